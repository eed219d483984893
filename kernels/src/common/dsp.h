/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DSP instructions that the _dsp kernels use, and the arithmetic made of them. A pair is two
 * signed 16-bit values in one word, the first in the lower half.
 */
#ifndef CORTEXM_COMMON_DSP_H
#define CORTEXM_COMMON_DSP_H

#include <stdint.h>
#include <string.h>

#include "cortexm/params.h"
#include "cortexm/requantize.h"

/* Scratch and packed weights are read as words, whatever was written there. */
typedef uint32_t __attribute__((may_alias)) cortexm_word_t;

/* Four codes from any address. */
static inline uint32_t cortexm_load4(const int8_t *codes)
{
    uint32_t word;

    memcpy(&word, codes, sizeof word);
    return word;
}

/* Bytes 0 and 2, and bytes 1 and 3, as a pair. */
static inline uint32_t cortexm_sxtb16(uint32_t bytes)
{
    uint32_t pair;

    __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
    return pair;
}

static inline uint32_t cortexm_sxtb16_ror8(uint32_t bytes)
{
    uint32_t pair;

    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(bytes));
    return pair;
}

/* The lower half of one word and the upper half of another. */
static inline uint32_t cortexm_halves(uint32_t lower, uint32_t upper)
{
    uint32_t pair;

    __asm__("pkhbt %0, %1, %2" : "=r"(pair) : "r"(lower), "r"(upper));
    return pair;
}

/* Bytes 0 and 2, zero-extended. */
static inline uint32_t cortexm_uxtb16(uint32_t bytes)
{
    uint32_t pair;

    __asm__("uxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
    return pair;
}

/* The sums of the lower and of the upper halves; they wrap. */
static inline uint32_t cortexm_sadd16(uint32_t a, uint32_t b)
{
    uint32_t pair;

    __asm__("sadd16 %0, %1, %2" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
}

/* The lower halves, and the upper halves, of two pairs. */
static inline uint32_t cortexm_lower_halves(uint32_t first, uint32_t second)
{
    uint32_t pair;

    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(pair) : "r"(first), "r"(second));
    return pair;
}

static inline uint32_t cortexm_upper_halves(uint32_t first, uint32_t second)
{
    uint32_t pair;

    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(pair) : "r"(second), "r"(first));
    return pair;
}

/* sum + product of the first halves + product of the second halves; wraps. */
static inline int32_t cortexm_smlad(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;

    __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

/* sum + product of one half of each: the lower (b) or the upper (t) one. */
static inline int32_t cortexm_smlabt(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;

    __asm__("smlabt %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

static inline int32_t cortexm_smlatb(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;

    __asm__("smlatb %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

/* floor((a * b + 2^31) / 2^32) */
static inline int32_t cortexm_smmulr(int32_t a, int32_t b)
{
    int32_t result;

    __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

/* The code of an accumulator v with |v| < 2^30, for a shift -n in [-31, -1], saturated to int8.
 * Takes 2v, n - 1 and 2z + 1 for the zero point z.
 *
 * high_mul(v, m) = floor((v * m + 2^30) / 2^31) = floor((2v * m + 2^31) / 2^32) needs no 64-bit
 * product. With t = h - (h < 0), rounding_shift(h, n) is floor((t + 2^(n-1)) / 2^n), and
 * floor((t + 2^(n-1)) / 2^n) + z = floor((floor(t / 2^(n-1)) + 1 + 2z) / 2). */
static inline int32_t cortexm_narrow_code(int32_t twice_value, int32_t multiplier,
                                          int32_t n_minus_one, int32_t twice_zero_point_plus_one)
{
    const int32_t high = cortexm_smmulr(twice_value, multiplier);
    const int32_t twice_code = ((high + (high >> 31)) >> n_minus_one) + twice_zero_point_plus_one;
    int32_t code;

    __asm__("ssat %0, #8, %1, asr #1" : "=r"(code) : "r"(twice_code));
    return code;
}

/*
 * Matrix products of 16-bit inputs and packed 8-bit weights.
 *
 * The plan packs the weights of two channels a and b together: a word holds them at two inputs k and
 * k + 1 as two 16-bit values 256 * b + (a + 128). The form "twos" (plan/kernels/packing.py) has one pair of
 * channels after another, the last perhaps with zeros for b, "pairs" blocks of two pairs with their words
 * in turn; channels that are left of fours follow there, weights w0, w2, w1, w3 in a word. Inputs come in
 * fours, filled up with zeros. The weights of these may be any: of each pair only words with a weight are
 * stored, and what follows is read for the others.
 *
 * Let A and B be a channel's sums of products with the inputs x and X = 128 * (sum of x). The sum
 * over the 16-bit values is S = 256 * B + A + X, that over their lower bytes, zero-extended,
 * U = A + X. So B = (S - U) / 256, exact while |B| < 2^23, and A = U - X, which costs nothing if
 * both sums begin at -X: four weights take one extension. Longer sums are made of runs of 508
 * inputs, each of which keeps |B| <= 508 * 2^14 < 2^23.
 */

/* Inputs come in fours; so many of them make a run. */
#define CORTEXM_RUN_QUADS 127

/* B from S and U. */
static inline int32_t cortexm_upper_sum(int32_t s, int32_t u)
{
    return (int32_t)((uint32_t)s - (uint32_t)u) >> 8;
}

/* -X of one row of inputs, whose pairs are `step` words apart. */
static inline int32_t cortexm_pairs_start(const cortexm_word_t *x, int32_t step, int32_t quads)
{
    int32_t sum = 0;

    for (; quads > 0; --quads) {
        sum = cortexm_smlad(x[0], UINT32_C(0xff80ff80), sum);
        sum = cortexm_smlad(x[step], UINT32_C(0xff80ff80), sum);
        x += 2 * step;
    }
    return sum;
}

/* sum[c]: products of one row of inputs with four channels. The row's pairs are `step` words apart, a
 * pair of channels' words `next`, and the second pair of channels begins after `second`; start is -X. */
static inline void cortexm_gemm_1x4(const cortexm_word_t *x, int32_t step, const cortexm_word_t *w,
                                    int32_t next, int32_t second, int32_t quads, int32_t start,
                                    int32_t sum[4])
{
    sum[0] = sum[2] = start;
    sum[1] = sum[3] = 0;
    do {
        const int32_t run = cortexm_min(quads, CORTEXM_RUN_QUADS);
        const cortexm_word_t *const end = w + 2 * next * run;
        int32_t a0 = 0, a1 = 0;
        int32_t s0 = 0, s1 = 0;

        do {
            const cortexm_word_t *const v = w + second;
            const uint32_t x0 = x[0];
            const uint32_t x1 = x[step];

            s0 = cortexm_smlad(x0, w[0], s0);
            a0 = cortexm_smlad(x0, cortexm_uxtb16(w[0]), a0);
            s1 = cortexm_smlad(x0, v[0], s1);
            a1 = cortexm_smlad(x0, cortexm_uxtb16(v[0]), a1);
            s0 = cortexm_smlad(x1, w[next], s0);
            a0 = cortexm_smlad(x1, cortexm_uxtb16(w[next]), a0);
            s1 = cortexm_smlad(x1, v[next], s1);
            a1 = cortexm_smlad(x1, cortexm_uxtb16(v[next]), a1);
            x += 2 * step;
            w += 2 * next;
        } while (w != end);
        sum[0] += a0;
        sum[1] += cortexm_upper_sum(s0, a0);
        sum[2] += a1;
        sum[3] += cortexm_upper_sum(s1, a1);
        quads -= run;
    } while (quads > 0);
}

/* The product of one row of inputs with a channel that is left. */
static inline int32_t cortexm_gemm_1x1(const cortexm_word_t *x, int32_t step,
                                       const cortexm_word_t *w, int32_t quads)
{
    int32_t sum = 0;

    do {
        const uint32_t codes = *w++;

        sum = cortexm_smlad(x[0], cortexm_sxtb16(codes), sum);
        sum = cortexm_smlad(x[step], cortexm_sxtb16_ror8(codes), sum);
        x += 2 * step;
    } while (--quads != 0);
    return sum;
}

/* The clamp of an activation, as a second pass over codes that are saturated to int8. In most models
 * the range is all of int8 and nothing remains to be done. */
static inline void cortexm_clamp_codes(int8_t *codes, int32_t count, int32_t low, int32_t high)
{
    if (low == INT8_MIN && high == INT8_MAX) {
        return;
    }
    for (; count > 0; --count) {
        *codes = (int8_t)cortexm_clamp(*codes, low, high);
        ++codes;
    }
}

/* All results of a convolution. */
static inline void cortexm_clamp_image(const cortexm_conv_s8_t *p, int8_t *out)
{
    const int32_t is_whole = p->out_pixel_stride == p->out_c;
    const int32_t pixels = p->out_h * p->out_w;

    for (int32_t i = is_whole ? 1 : pixels; i > 0; --i) {
        cortexm_clamp_codes(out, is_whole ? pixels * p->out_c : p->out_c, p->act_min, p->act_max);
        out += p->out_pixel_stride;
    }
}

#endif
