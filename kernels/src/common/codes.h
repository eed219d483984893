/* SPDX-License-Identifier: Apache-2.0 */
/* Codes from accumulators, per channel, without the DSP extension. */
#ifndef CORTEXM_COMMON_CODES_H
#define CORTEXM_COMMON_CODES_H

#include "cortexm/requantize.h"

/* Requantization to codes; scalar values only, so that they stay in registers. */
typedef struct {
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t zero_point, low, high;
    int32_t is_simple; /* shifts are -2 or less, and low and high the ends of int8 */
} cortexm_codes_t;

static inline cortexm_codes_t cortexm_codes(const int32_t *multiplier, const int8_t *shift,
                                            int32_t channels, int32_t zero_point, int32_t low,
                                            int32_t high)
{
    cortexm_codes_t codes = {multiplier, shift, zero_point, low, high,
                             low == INT8_MIN && high == INT8_MAX};

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

/* Any code; for the rest of a layer that is not simple. */
static inline int8_t cortexm_code(const cortexm_codes_t *codes, int32_t o, int32_t value)
{
    return (int8_t)cortexm_add_zero_point(
        cortexm_requantize(value, codes->multiplier[o], codes->shift[o]), codes->zero_point,
        codes->low, codes->high);
}

/* out[i] = code of bias[i] + sum[i] for the channels o to o + count, count <= 4 */
static inline void cortexm_four_codes(const cortexm_codes_t *codes, int32_t o, int32_t count,
                                      const int32_t *bias, const int32_t sum[4], int8_t *out)
{
    if (codes->is_simple && count == 4) {
        const int32_t *const multiplier = codes->multiplier + o;
        const int8_t *const shift = codes->shift + o;
        const int32_t zero_point = 2 * codes->zero_point + 1;

        out[0] = (int8_t)cortexm_simple_code(bias[0] + sum[0], multiplier[0], shift[0], zero_point);
        out[1] = (int8_t)cortexm_simple_code(bias[1] + sum[1], multiplier[1], shift[1], zero_point);
        out[2] = (int8_t)cortexm_simple_code(bias[2] + sum[2], multiplier[2], shift[2], zero_point);
        out[3] = (int8_t)cortexm_simple_code(bias[3] + sum[3], multiplier[3], shift[3], zero_point);
        return;
    }
    for (int32_t i = 0; i < count; ++i) {
        out[i] = cortexm_code(codes, o + i, bias[i] + sum[i]);
    }
}

#endif
