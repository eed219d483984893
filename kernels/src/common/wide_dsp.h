/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the DSP kernels of int16 codes share: products with packed weights, and codes of sums.
 *
 * The forms of the weights are those of products_dsp.h: two channels a and b at two inputs are a word of
 * two 16-bit values 256 * b + (a + 128). With A and B a channel's sums of products with the inputs x and
 * X = 128 * (sum of x), the sum over the 16-bit values is S = 256 * B + A + X, that over their upper
 * bytes, sign-extended, B itself. So A = S - 256 * B - X, modulo 2^32, which is exact for sums that are
 * proved to stay within 32 bits, and costs one instruction if S begins at -X.
 *
 * Weights of 4 bits are "nibble_twos" of products_dsp.h, whose S and U serve sums below 2^27.
 */
#ifndef CORTEXM_COMMON_WIDE_DSP_H
#define CORTEXM_COMMON_WIDE_DSP_H

#include "common/dsp.h"

/* The code of a sum, for a shift of -2 or less: floor((v + 2^(n-1)) / 2^n) with v = floor(sum *
 * multiplier / 2^16) and n = -1 - shift, saturated to int16. It is that of common/wide.h, as
 * floor((floor(v / 2^(n-1)) + 1) / 2) = floor((v + 2^(n-1)) / 2^n). */
static inline int16_t cortexm_wide_code(int32_t sum, int32_t multiplier, int32_t shift)
{
    const int32_t n = -1 - shift;
    int32_t value;

    __asm__("smlawb %0, %1, %2, %3"
            : "=r"(value)
            : "r"(sum), "r"(multiplier), "r"((int32_t)1 << (n - 1)));
    __asm__("ssat %0, #16, %1" : "=r"(value) : "r"(value >> n));
    return (int16_t)value;
}

/* S and B of two pairs of channels at w and v, begun with what is in sum[] (S, B, S, B). Pairs of inputs
 * are `step` codes apart, words of weights `next` words. */
static inline void cortexm_wide_1x4(const int16_t *x, int32_t step, const cortexm_word_t *w,
                                    const cortexm_word_t *v, int32_t next, int32_t pairs,
                                    int32_t sum[4])
{
    int32_t s0 = sum[0], b0 = sum[1];
    int32_t s1 = sum[2], b1 = sum[3];

    for (; pairs > 0; --pairs) {
        const uint32_t inputs = cortexm_load2(x);

        s0 = cortexm_smlad(inputs, *w, s0);
        b0 = cortexm_smlad(inputs, cortexm_sxtb16_ror8(*w), b0);
        s1 = cortexm_smlad(inputs, *v, s1);
        b1 = cortexm_smlad(inputs, cortexm_sxtb16_ror8(*v), b1);
        x += step;
        w += next;
        v += next;
    }
    sum[0] = s0;
    sum[1] = b0;
    sum[2] = s1;
    sum[3] = b1;
}

/* Products with two pairs of channels of "nibble_twos" at w and v, begun with `start`, which is -X. Pairs
 * of inputs are `step` codes apart. */
static inline void cortexm_nibbles_1x4(const int16_t *x, int32_t step, const cortexm_word_t *w,
                                       const cortexm_word_t *v, int32_t quads, int32_t start,
                                       int32_t sum[4])
{
    const uint32_t lower = UINT32_C(0x000f000f);
    int32_t s0 = start, u0 = start;
    int32_t s1 = start, u1 = start;

    for (; quads > 0; --quads) {
        const uint32_t first = cortexm_load2(x);
        const uint32_t second = cortexm_load2(x + step);
        const uint32_t w0 = cortexm_sxtb16(*w);
        const uint32_t w1 = cortexm_sxtb16_ror8(*w++);
        const uint32_t v0 = cortexm_sxtb16(*v);
        const uint32_t v1 = cortexm_sxtb16_ror8(*v++);

        s0 = cortexm_smlad(first, w0, s0);
        u0 = cortexm_smlad(first, w0 & lower, u0);
        s1 = cortexm_smlad(first, v0, s1);
        u1 = cortexm_smlad(first, v0 & lower, u1);
        s0 = cortexm_smlad(second, w1, s0);
        u0 = cortexm_smlad(second, w1 & lower, u0);
        s1 = cortexm_smlad(second, v1, s1);
        u1 = cortexm_smlad(second, v1 & lower, u1);
        x += 2 * step;
    }
    sum[0] = u0;
    sum[1] = (int32_t)((uint32_t)s0 - (uint32_t)u0) >> 4;
    sum[2] = u1;
    sum[3] = (int32_t)((uint32_t)s1 - (uint32_t)u1) >> 4;
}

/* The product of a row in one piece with a channel that is left, whose weights are
 * w0, w2, w1, w3 in a word. */
static inline int32_t cortexm_wide_1x1(const int16_t *x, const cortexm_word_t *w, int32_t quads)
{
    int32_t sum = 0;

    for (; quads > 0; --quads) {
        const uint32_t codes = *w++;

        sum = cortexm_smlad(cortexm_load2(x), cortexm_sxtb16(codes), sum);
        sum = cortexm_smlad(cortexm_load2(x + 2), cortexm_sxtb16_ror8(codes), sum);
        x += 4;
    }
    return sum;
}

/* -X of a row in one piece; minus_offsets are twice what is added to a weight, negated. */
static inline int32_t cortexm_wide_start(const int16_t *x, int32_t quads, uint32_t minus_offsets)
{
    int32_t sum = 0;

    for (; quads > 0; --quads) {
        sum = cortexm_smlad(cortexm_load2(x), minus_offsets, sum);
        sum = cortexm_smlad(cortexm_load2(x + 2), minus_offsets, sum);
        x += 4;
    }
    return sum;
}

/* A from S and B. */
static inline int32_t cortexm_lower_sum(int32_t s, int32_t b)
{
    return (int32_t)((uint32_t)s - ((uint32_t)b << 8));
}

/* The codes of `count` = 1 … blocks of 16 that begin at a word, no less than 0. Assembly, as GCC does not
 * load so many words at once. */
static inline int16_t *cortexm_positive(int16_t *codes, int32_t count)
{
    __asm__ volatile("1:\n\t"
                     "ldm    %[codes], {r2, r3, r4, r5, r6, r8, r9, r12}\n\t"
                     "usat16 r2, #15, r2\n\t"
                     "usat16 r3, #15, r3\n\t"
                     "usat16 r4, #15, r4\n\t"
                     "usat16 r5, #15, r5\n\t"
                     "usat16 r6, #15, r6\n\t"
                     "usat16 r8, #15, r8\n\t"
                     "usat16 r9, #15, r9\n\t"
                     "usat16 r12, #15, r12\n\t"
                     "stm    %[codes]!, {r2, r3, r4, r5, r6, r8, r9, r12}\n\t"
                     "subs   %[count], %[count], #1\n\t"
                     "bne    1b\n\t"
                     : [codes] "+r"(codes), [count] "+r"(count)
                     :
                     : "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r12", "cc", "memory");
    return codes;
}

/* Both codes of a word, between those of low and high. */
static inline uint32_t cortexm_between(uint32_t codes, uint32_t low, uint32_t high)
{
    uint32_t t;

    __asm__("ssub16 %1, %0, %2\n\t"
            "sel    %0, %0, %2\n\t"
            "ssub16 %1, %3, %0\n\t"
            "sel    %0, %0, %3"
            : "+&r"(codes), "=&r"(t)
            : "r"(low), "r"(high)
            : "cc");
    return codes;
}

/* The clamp of an activation, as a second pass over codes that are saturated to int16. */
static inline void cortexm_clamp_wide(int16_t *codes, int32_t count, int32_t low, int32_t high)
{
    const uint32_t lows = (uint32_t)(uint16_t)low * UINT32_C(0x10001);
    const uint32_t highs = (uint32_t)(uint16_t)high * UINT32_C(0x10001);

    if (low == INT16_MIN && high == INT16_MAX) {
        return;
    }
    if (((uintptr_t)codes & 2u) != 0u && count > 0) {
        *codes = (int16_t)cortexm_clamp(*codes, low, high);
        ++codes;
        --count;
    }
    if (low == 0 && high == INT16_MAX && count >= 16) {
        codes = cortexm_positive(codes, count / 16);
        count %= 16;
    }
    for (; count >= 2; count -= 2) {
        const uint32_t pair = cortexm_between(cortexm_load2(codes), lows, highs);

        memcpy(codes, &pair, sizeof pair);
        codes += 2;
    }
    if (count > 0) {
        *codes = (int16_t)cortexm_clamp(*codes, low, high);
    }
}

/* All results of a convolution. */
static inline void cortexm_clamp_wide_image(const cortexm_conv_s16_t *p, int16_t *out)
{
    const int32_t is_whole = p->out_pixel_stride == p->out_c;
    const int32_t pixels = p->out_h * p->out_w;

    for (int32_t i = is_whole ? 1 : pixels; i > 0; --i) {
        cortexm_clamp_wide(out, is_whole ? pixels * p->out_c : p->out_c, p->act_min, p->act_max);
        out += p->out_pixel_stride;
    }
}

/* A row of int16 codes times packed weights ("pairs") of eight outputs. */

/* Two inputs times the four outputs of a block, whose sums are S, B, S, B. */
#define MULTIPLY_WIDE(w, s0, b0, s1, b1)                                                          \
    "ldrd   r12, lr, [" w "], #8\n"                                                                \
    "smlad  " s0 ", r3, r12, " s0 "\n"                                                             \
    "smlad  " s1 ", r3, lr, " s1 "\n"                                                              \
    "sxtb16 r12, r12, ror #8\n"                                                                    \
    "sxtb16 lr, lr, ror #8\n"                                                                      \
    "smlad  " b0 ", r3, r12, " b0 "\n"                                                             \
    "smlad  " b1 ", r3, lr, " b1 "\n"
#define MULTIPLY_WIDE_STEP                                                                              \
    "ldr    r3, [r0], #4\n" MULTIPLY_WIDE("r1", "r4", "r5", "r6", "r7")                           \
        MULTIPLY_WIDE("r2", "r8", "r9", "r10", "r11")

/* Eight outputs, in all registers there are. `sum` has what S, B, S, B … begin with, and gets them;
 * `block` are the bytes from one block of four outputs to the next. */
CORTEXM_NAKED static void
cortexm_wide_1x8(const int16_t *x, const cortexm_word_t *w, int32_t block, int32_t sum[8], int32_t quads)
{
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(block);
    CORTEXM_TAKES(sum);
    CORTEXM_TAKES(quads);
    __asm__ volatile(
        "push   {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
        "ldr    r12, [sp, #40]\n"
        "add    r12, r1, r12, lsl #4\n"
        "push   {r12}\n" /* the end of the first block's weights */
        "add    r2, r1\n"
        "ldm    r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
        "1:\n" MULTIPLY_WIDE_STEP MULTIPLY_WIDE_STEP
        "ldr    r3, [sp]\n"
        "cmp    r1, r3\n"
        "bne    1b\n"
        "add    sp, #4\n"
        "pop    {r3}\n"
        "stm    r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
        "pop    {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

#endif
