/* SPDX-License-Identifier: Apache-2.0 */
/* Codes from accumulators, per channel, without the DSP extension. */
#ifndef CORTEXM_COMMON_CODES_H
#define CORTEXM_COMMON_CODES_H

#include "common/apart.h"
#include "cortexm/requantize.h"

/* Requantization to codes; scalar values only, so that they stay in registers. */
typedef struct {
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t zero_point, low, high;
    int32_t is_simple;  /* all shifts are -2 or less */
    int32_t is_clamped; /* low or high is not the end of int8 */
} cortexm_codes_t;

static inline cortexm_codes_t cortexm_codes(const int32_t *multiplier, const int8_t *shift,
                                            int32_t channels, int32_t zero_point, int32_t low,
                                            int32_t high)
{
    cortexm_codes_t codes = {multiplier, shift, zero_point, low, high, 1,
                             low != INT8_MIN || high != INT8_MAX};

    for (int32_t o = 0; o < channels; ++o) {
        if (shift[o] > -2) {
            codes.is_simple = 0;
        }
    }
    return codes;
}

/* The code of an accumulator in a simple layer; takes 2z + 1 for the zero point z.
 *
 * With h = high_mul(v, m), t = h - (h < 0) and the shift -n, rounding_shift(h, n) + z is
 * floor((floor(t / 2^(n-1)) + 1 + 2z) / 2); nothing overflows for n >= 2. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
/* As the compiler would do it, but for the saturation, and in seven registers: it keeps four of them
 * for the caller and moves the rest to and fro. */
__attribute__((naked, noinline, unused)) static int32_t
cortexm_simple_code(int32_t value, int32_t multiplier, int32_t shift,
                    int32_t twice_zero_point_plus_one)
{
    (void)value;
    (void)multiplier;
    (void)shift;
    (void)twice_zero_point_plus_one;
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, lr}\n"
                     "asrs r4, r0, #16\n" /* r4, r0: upper and lower half of the value */
                     "uxth r0, r0\n"
                     "lsrs r5, r1, #16\n" /* r5, r1: of the multiplier */
                     "uxth r1, r1\n"
                     "movs r6, r0\n"
                     "muls r6, r1\n"
                     "lsrs r6, r6, #16\n"
                     "muls r1, r4\n"
                     "adds r6, r6, r1\n" /* `first` of cortexm_high_mul */
                     "muls r4, r5\n"
                     "asrs r1, r6, #16\n"
                     "adds r4, r4, r1\n"
                     "muls r0, r5\n"
                     "uxth r6, r6\n"
                     "adds r0, r0, r6\n" /* `second` */
                     "movs r1, #1\n"
                     "lsls r1, r1, #14\n"
                     "adds r0, r0, r1\n"
                     "asrs r0, r0, #15\n"
                     "adds r0, r0, r4\n"
                     "adds r0, r0, r4\n" /* h */
                     "asrs r1, r0, #31\n"
                     "adds r0, r0, r1\n"
                     "mvns r2, r2\n"
                     "asrs r0, r2\n"
                     "adds r0, r0, r3\n"
                     "asrs r0, r0, #1\n"
                     "sxtb r1, r0\n"
                     "cmp  r0, r1\n"
                     "beq  1f\n"
                     "asrs r0, r0, #31\n" /* to 127 or, if negative, to ~127 */
                     "movs r1, #127\n"
                     "eors r0, r1\n"
                     "1:\n"
                     "pop  {r4, r5, r6, pc}\n");
}
#else
static inline int32_t cortexm_simple_code(int32_t value, int32_t multiplier, int32_t shift,
                                          int32_t twice_zero_point_plus_one)
{
    const int32_t high = cortexm_high_mul(value, multiplier);
    const int32_t code = ((high + (high >> 31)) >> (-1 - shift)) + twice_zero_point_plus_one;

    return cortexm_saturate_s8(code >> 1);
}
#endif

/* Any code. */
static inline int8_t cortexm_code(const cortexm_codes_t *codes, int32_t o, int32_t value)
{
    return (int8_t)cortexm_add_zero_point(
        cortexm_requantize(value, codes->multiplier[o], codes->shift[o]), codes->zero_point,
        codes->low, codes->high);
}

/* value[4 * i + o] becomes its simple code, for four outputs o and `rows` > 0 values i
 * of each. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
/* As cortexm_simple_code, with an output's constants prepared once. A negative value becomes at most
 * the zero point, so if that is -128, as after a ReLU, there is nothing to compute. One from 0 to
 * 2^16 - 1 has no upper half to multiply. */
__attribute__((naked)) CORTEXM_SHARED void
cortexm_simple_codes(int32_t *value, const int32_t *multiplier, const int8_t *shift,
                     int32_t twice_zero_point_plus_one, int32_t rows)
{
    (void)value;
    (void)multiplier;
    (void)shift;
    (void)twice_zero_point_plus_one;
    (void)rows;
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "push {r4, r5, r6, r7}\n"
                     "mov  r9, r1\n"
                     "mov  r10, r2\n"
                     "mov  r11, r3\n"
                     "movs r1, #1\n"
                     "lsls r1, r1, #14\n"
                     "mov  r12, r1\n"
                     "ldr  r1, [sp, #36]\n"
                     "lsls r1, r1, #4\n"  /* bytes from one row's value to the last one's end */
                     "adds r2, r0, #7\n"
                     "adds r2, #9\n"      /* the end of the outputs */
                     "mov  lr, r2\n"
                     "push {r1}\n"
                     "1:\n"
                     "ldr  r1, [sp]\n"
                     "adds r1, r0, r1\n"
                     "mov  r8, r1\n" /* the end of an output's values */
                     "mov  r1, r9\n"
                     "ldmia r1!, {r4}\n"
                     "mov  r9, r1\n"
                     "lsrs r5, r4, #16\n" /* r5, r4: upper and lower half of the multiplier */
                     "uxth r4, r4\n"
                     "mov  r1, r10\n"
                     "ldrb r6, [r1]\n"
                     "adds r1, #1\n"
                     "mov  r10, r1\n"
                     "mvns r6, r6\n" /* -1 - shift */
                     "2:\n"
                     "ldr  r1, [r0]\n"
                     "asrs r2, r1, #16\n" /* r2, r1: of the value */
                     "bmi  5f\n"
                     "beq  7f\n"
                     "3:\n"
                     "uxth r1, r1\n"
                     "movs r3, r1\n"
                     "muls r3, r4\n"
                     "lsrs r3, r3, #16\n"
                     "movs r7, r2\n"
                     "muls r7, r4\n"
                     "adds r3, r3, r7\n" /* `first` of cortexm_high_mul */
                     "muls r1, r5\n"
                     "uxth r7, r3\n"
                     "adds r1, r1, r7\n" /* `second` */
                     "add  r1, r12\n"
                     "asrs r1, r1, #15\n"
                     "muls r2, r5\n"
                     "asrs r3, r3, #16\n"
                     "adds r2, r2, r3\n"
                     "adds r2, r2, r2\n"
                     "adds r1, r1, r2\n" /* h */
                     "asrs r2, r1, #31\n"
                     "adds r1, r1, r2\n"
                     "8:\n"
                     "asrs r1, r6\n"
                     "add  r1, r11\n"
                     "asrs r1, r1, #1\n"
                     "sxtb r2, r1\n"
                     "cmp  r1, r2\n"
                     "bne  6f\n"
                     "4:\n"
                     "str  r1, [r0]\n"
                     "adds r0, #16\n"
                     "cmp  r0, r8\n"
                     "bne  2b\n"
                     "ldr  r1, [sp]\n"
                     "subs r0, r0, r1\n"
                     "adds r0, #4\n"
                     "cmp  r0, lr\n"
                     "bne  1b\n"
                     "pop  {r3, r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "pop  {r4, r5, r6, r7, pc}\n"
                     "5:\n" /* negative */
                     "mov  r3, r11\n"
                     "adds r3, #255\n"
                     "bne  3b\n"
                     "movs r1, #127\n"
                     "mvns r1, r1\n"
                     "b    4b\n"
                     "6:\n" /* to 127 or, if negative, to ~127 */
                     "asrs r1, r1, #31\n"
                     "movs r2, #127\n"
                     "eors r1, r2\n"
                     "b    4b\n"
                     "7:\n" /* below 2^16: the upper half is 0 */
                     "movs r3, r1\n"
                     "muls r3, r4\n"
                     "lsrs r3, r3, #16\n"
                     "muls r1, r5\n"
                     "adds r1, r1, r3\n"
                     "add  r1, r12\n"
                     "asrs r1, r1, #15\n"
                     "b    8b\n");
}
#else
CORTEXM_SHARED void cortexm_simple_codes(int32_t *value, const int32_t *multiplier,
                                         const int8_t *shift, int32_t twice_zero_point_plus_one,
                                         int32_t rows)
{
    for (const int32_t *const end = value + 4; value != end; ++value) {
        const int32_t m = *multiplier++;
        const int32_t s = *shift++;

        for (int32_t i = 0; i < 4 * rows; i += 4) {
            value[i] = cortexm_simple_code(value[i], m, s, twice_zero_point_plus_one);
        }
    }
}
#endif

/* value[4 * i + k] = bias[k] + offset for three rows i and four outputs k, or for `count` = 1 only
 * k = 0. */
static CORTEXM_APART void cortexm_start_codes(const int32_t *bias, int32_t count, int32_t offset,
                                              int32_t *value)
{
    const int32_t last = count - 1;
    const int32_t start0 = bias[0] + offset;
    const int32_t start1 = bias[last & 1] + offset;
    const int32_t start2 = bias[last & 2] + offset;
    const int32_t start3 = bias[last] + offset;

    for (int32_t *row = value; row != value + 12; row += 4) {
        row[0] = start0;
        row[1] = start1;
        row[2] = start2;
        row[3] = start3;
    }
}

/* out[i][o + k] = code of value[4 * i + k] for `rows` > 0 pixels i and `count` <= 4 channels o + k.
 * The values are lost. */
CORTEXM_SHARED void cortexm_put_codes(const cortexm_codes_t *codes, int32_t o, int32_t count,
                                      int32_t *value, int32_t rows, int8_t *const *out)
{
    if (codes->is_simple && count == 4) {
        cortexm_simple_codes(value, codes->multiplier + o, codes->shift + o,
                             2 * codes->zero_point + 1, rows);
        if (codes->is_clamped) {
            for (int32_t i = 0; i < 4 * rows; ++i) {
                value[i] = cortexm_clamp(value[i], codes->low, codes->high);
            }
        }
        for (int32_t i = 0; i < rows; ++i) {
            int8_t *const to = out[i] + o;

            to[0] = (int8_t)value[0];
            to[1] = (int8_t)value[1];
            to[2] = (int8_t)value[2];
            to[3] = (int8_t)value[3];
            value += 4;
        }
        return;
    }
    for (int32_t i = 0; i < rows; ++i) {
        for (int32_t k = 0; k < count; ++k) {
            out[i][o + k] = cortexm_code(codes, o + k, value[4 * i + k]);
        }
    }
}

#endif
