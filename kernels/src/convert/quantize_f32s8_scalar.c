/* SPDX-License-Identifier: Apache-2.0 */
/* quantize, float to int8, portable C. See kernels/README.md for the formula. */
#include <stdint.h>

#include "common/apart.h"
#include "common/round.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

#if defined(__SOFTFP__)

/* What cortexm_quantize_easy reads; the assembler below knows the order. */
typedef struct {
    uint32_t mantissa;      /* upper 16 bits of the scale's 24 */
    uint32_t first;         /* 261 less the scale's exponent: 22 less a value's exponent is a shift */
    int32_t zero_point, low, high;
} cortexm_easy_scale_t;

/* Codes of floats up to the first difficult one or the end; returns the float that comes next.
 *
 * With a and b the upper 16 bits of the mantissas of a value x and the scale y, and s = 283 less both
 * exponents, |x * y| * 2^s lies between a * b / 2 and that plus 2^16, both up to 1; the product's
 * rounding to a float moves it by another 2^6 at most, as a * b / 2 < 2^31. If both ends round to one
 * integer, it is the result, and no tie lies between them. For s < 22 the result has more than 9
 * bits, or x is infinite or no number: difficult. For s > 31 it is below 1/2, or 1/2, a tie to 0. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
__attribute__((naked, noinline, unused)) static const float *
cortexm_quantize_easy(const float *in, const float *end, int8_t *out,
                      const cortexm_easy_scale_t *scale)
{
    (void)in;
    (void)end;
    (void)out;
    (void)scale;
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "push {r4, r5, r6, r7}\n"
                     "mov  r12, r1\n"
                     "movs r1, r2\n"
                     "ldmia r3!, {r2, r4, r5, r6, r7}\n"
                     "movs r3, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "ldr  r4, =65602 + 66\n"
                     "mov  lr, r4\n"
                     "movs r4, #1\n"
                     "lsls r4, r4, #15\n"
                     "mov  r8, r4\n"
                     "1:\n"
                     "cmp  r0, r12\n"
                     "beq  3f\n"
                     "2:\n"
                     "ldmia r0!, {r4}\n"
                     "lsls r5, r4, #1\n"
                     "lsrs r5, r5, #24\n"
                     "subs r5, r3, r5\n" /* s - 22 */
                     "cmp  r5, #9\n"
                     "bhi  5f\n"
                     "lsls r6, r4, #9\n"
                     "lsrs r6, r6, #17\n"
                     "add  r6, r8\n"
                     "muls r6, r2\n"
                     "lsrs r6, r6, #1\n"
                     "adds r5, #21\n"
                     "movs r7, #1\n"
                     "lsls r7, r5\n"
                     "adds r6, r6, r7\n"
                     "adds r5, #1\n"
                     "subs r6, #66\n"
                     "movs r7, r6\n"
                     "add  r7, lr\n"
                     "lsrs r6, r5\n"
                     "lsrs r7, r5\n"
                     "cmp  r6, r7\n"
                     "bne  6f\n"
                     "asrs r4, r4, #31\n" /* the sign */
                     "eors r6, r4\n"
                     "subs r6, r6, r4\n"
                     "4:\n"
                     "add  r6, r9\n"
                     "cmp  r6, r10\n"
                     "blt  7f\n"
                     "cmp  r6, r11\n"
                     "bgt  8f\n"
                     "9:\n"
                     "strb r6, [r1]\n"
                     "adds r1, #1\n"
                     "cmp  r0, r12\n"
                     "bne  2b\n"
                     "3:\n"
                     "pop  {r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "pop  {r4, r5, r6, r7, pc}\n"
                     "5:\n"
                     "movs r6, #0\n"
                     "lsrs r5, r5, #9\n" /* 0 for s from 32 to 533 */
                     "beq  4b\n"
                     "6:\n"
                     "subs r0, #4\n"
                     "b    3b\n"
                     "7:\n"
                     "mov  r6, r10\n"
                     "b    9b\n"
                     "8:\n"
                     "mov  r6, r11\n"
                     "b    9b\n"
                     ".ltorg\n");
}
#else
static CORTEXM_APART const float *cortexm_quantize_easy(const float *in, const float *end,
                                                        int8_t *out,
                                                        const cortexm_easy_scale_t *scale)
{
    const uint32_t b = scale->mantissa;
    const uint32_t first = scale->first;
    const int32_t zero_point = scale->zero_point;

    for (; in != end; ++in) {
        const uint32_t bits = cortexm_float_bits(*in);
        const uint32_t s_less_22 = first - ((bits >> 23) & 255u);
        int32_t value = 0;

        if (s_less_22 <= 9u) {
            const uint32_t s = s_less_22 + 22u;
            const uint32_t a = ((bits >> 8) & 0x7fffu) | 0x8000u;
            const uint32_t least = ((a * b) >> 1) + (UINT32_C(1) << (s - 1u)) - 66u;

            value = (int32_t)(least >> s);
            if ((least + 65602u + 66u) >> s != (uint32_t)value) {
                break;
            }
            value = (bits >> 31) != 0u ? -value : value;
        } else if (s_less_22 >= 512u) {
            break;
        }
        *out++ = (int8_t)cortexm_clamp(value + zero_point, scale->low, scale->high);
    }
    return in;
}
#endif

static inline void cortexm_quantize_f32s8(const float *in, int32_t count, int8_t *out, float scale,
                                          int32_t zero_point, int32_t low, int32_t high)
{
    const uint32_t bits = cortexm_float_bits(scale);
    const cortexm_easy_scale_t easy = {((bits >> 8) & 0x7fffu) | 0x8000u, 261u - (bits >> 23),
                                       zero_point, low, high};
    /* The scale is positive. Within these bounds s is at most 253 for any x. */
    const int32_t is_normal = bits >> 23 >= 30u && bits >> 23 < 200u;
    const float *const end = in + count;

    while (in != end) {
        if (is_normal) {
            const float *const done = cortexm_quantize_easy(in, end, out, &easy);

            out += done - in;
            in = done;
        }
        if (in != end) {
            const int32_t value = cortexm_round_half_even(*in++ * scale);

            *out++ = (int8_t)cortexm_clamp(value + zero_point, low, high);
        }
    }
}

#else

static inline void cortexm_quantize_f32s8(const float *in, int32_t count, int8_t *out, float scale,
                                          int32_t zero_point, int32_t low, int32_t high)
{
    const float *const end = in + count;

    if (low == INT8_MIN && high == INT8_MAX) {
        if ((count & 1) != 0) {
            *out++ = (int8_t)cortexm_saturate_s8(cortexm_round_half_even(*in++ * scale) +
                                                 zero_point);
        }
        for (; in != end; in += 2) {
            const int32_t first = cortexm_round_half_even(in[0] * scale) + zero_point;
            const int32_t second = cortexm_round_half_even(in[1] * scale) + zero_point;

            out[0] = (int8_t)cortexm_saturate_s8(first);
            out[1] = (int8_t)cortexm_saturate_s8(second);
            out += 2;
        }
    }
    while (in != end) {
        const int32_t value = cortexm_round_half_even(*in++ * scale);

        *out++ = (int8_t)cortexm_clamp(value + zero_point, low, high);
    }
}

#endif

void cortexm_quantize_f32s8_scalar(const cortexm_quantize_t *params, const float *in, int8_t *out)
{
    CORTEXM_ASSERT(params->qmin <= params->qmax);
    cortexm_quantize_f32s8(in, params->count, out, params->inv_scale, params->zero_point,
                           params->qmin, params->qmax);
}
