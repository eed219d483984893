/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of the int8 kernels that are one template for several instruction sets, in portable
 * C. v6m.h and v7m.h have the same in assembler, for cores without and with long multiplications and
 * fourteen registers: a kernel's row in kernels.json says which it takes, by ISA
 * (common/stamp.h). What the words and packed weights mean stands in the templates: conv2d_s8.inc,
 * depthwise_conv2d.inc, eights.h.
 */
#ifndef CORTEXM_COMMON_SCALAR_H
#define CORTEXM_COMMON_SCALAR_H

#include <stdint.h>

#include "common/nibbles.h"
#include "common/stamp.h"
#include "common/taps.h"
#include "cortexm/requantize.h"

/* conv2d: the words of n > 0 inputs of each window; returns their end. */
static CORTEXM_APART uint32_t *cortexm_triples_put(uint32_t *to, const int8_t *x, const int8_t *y,
                                                   const int8_t *z, int32_t n)
{
    for (int32_t i = 0; i < n; ++i) {
        const uint32_t last = (uint32_t)z[i];

        to[0] = (uint32_t)x[i] + (last << 21);
        to[1] = (uint32_t)y[i] + (last << 11);
        to += 2;
    }
    return to;
}
/* conv2d: sum[0] and sum[1] = sum over n > 0 inputs of either word. */
static CORTEXM_APART void cortexm_triples_sum(const uint32_t *panel, int32_t n, uint32_t sum[2])
{
    uint32_t first = 0;
    uint32_t second = 0;

    for (; n >= 4; n -= 4) {
        first += panel[0] + panel[2] + panel[4] + panel[6];
        second += panel[1] + panel[3] + panel[5] + panel[7];
        panel += 8;
    }
    for (; n > 0; --n) {
        first += panel[0];
        second += panel[1];
        panel += 2;
    }
    sum[0] = first;
    sum[1] = second;
}

/* conv2d, one chunk of n > 0 inputs (of weights of 4 bits, an even number): sum[4 * i + o] += sum of window i's inputs times output o's
 * weights, plus CORTEXM_TRIPLE_OFFSET. */
static inline void cortexm_triples_chunk(const uint32_t *panel, const uint8_t *w, int32_t n,
                                         const uint32_t start[2], int32_t sum[12])
{
    for (int32_t o = 0; o < 4; ++o) {
        uint32_t first = start[0];
        uint32_t second = start[1];
        uint32_t last;

        for (int32_t k = 0; k < n; ++k) {
            const uint32_t weight = cortexm_four(w, k, o);

            first += panel[2 * k] * weight;
            second += panel[2 * k + 1] * weight;
        }
        last = first >> 21;
        second -= last << 11;
        last += second >> 22 << 11;
        sum[o] += (int32_t)(first & 0x1fffffu);
        sum[4 + o] += (int32_t)(second & 0x3fffffu);
        sum[8 + o] += (int32_t)last;
    }
}

/* eights.h: sum[i] = base[i] + add + the sum of output i, of the words that begin with `start`, for the
 * inputs from x to end, which are fours, and two blocks of weights, at w and at w + second, or one.
 *
 * T[0] - 2^8 T[2] = a + 2^16 (c - a) and T[2] - 2^8 T[0] = b + 2^16 (d - b) give the lower halves of a
 * and b. Their upper halves plus these, c + (a >> 16) and d + (b >> 16) modulo 2^16, and T[1] then
 * give (b >> 16) + 2^8 (a >> 16), so all of a and b and the lower halves of c and d. What is left of
 * T[1] is 2^16 (d >> 16) + 2^24 (c >> 16). */
static inline void cortexm_quads_sums(const cortexm_quads_t *run, const uint8_t *w,
                                      const int32_t *base, int32_t *sum)
{
    const cortexm_quad_t *const x = run->x;
    const int32_t n = (int32_t)(run->end - x);
    const int32_t add = run->add;
    const uint32_t start = run->start;

    for (int32_t block = run->second == 0; block < 2; ++block) {
        uint32_t T[3] = {start, start, start};
        uint32_t of_a, of_b, of_c, of_d, high, a, b, c_low, d_low, rest;

        for (int32_t k = 0; k < n; ++k) {
            const uint32_t value = (uint32_t)x[k];
            const uint32_t word = cortexm_four(w, k, 0) | (cortexm_four(w, k, 1) << 8) |
                                  (cortexm_four(w, k, 2) << 16) | (cortexm_four(w, k, 3) << 24);
            const uint32_t reversed = __builtin_bswap32(word);

            T[0] += value * word;
            T[1] += value * reversed;
            T[2] += value * ((reversed << 16) | (reversed >> 16));
        }
        of_a = T[0] - (T[2] << 8);
        of_b = T[2] - (T[0] << 8);
        of_c = (of_a >> 16) + (of_a & 0xffffu);
        of_d = (of_b >> 16) + (of_b & 0xffffu);
        high = of_d + (of_c << 8) - T[1];
        a = (of_a & 0xffffu) + (high << 8 & 0xff0000u);
        b = (of_b & 0xffffu) + (high << 16 & 0xff0000u);
        c_low = (of_c - (a >> 16)) & 0xffffu;
        d_low = (of_d - (b >> 16)) & 0xffffu;
        rest = T[1] - d_low - (c_low << 8) - (b << 16) - (a << 24);
        sum[0] = base[0] + add + (int32_t)a;
        sum[1] = base[1] + add + (int32_t)b;
        sum[2] = base[2] + add + (int32_t)(c_low + (rest >> 24 << 16));
        sum[3] = base[3] + add + (int32_t)(d_low + (rest & 0xff0000u));
        sum += 4;
        base += 4;
        w += run->second;
    }
}

#ifndef CORTEXM_SIMPLE_CODES

/* The code of an accumulator in a simple layer; takes 2z + 1 for the zero point z.
 *
 * With h = high_mul(v, m), t = h - (h < 0) and the shift -n, rounding_shift(h, n) + z is
 * floor((floor(t / 2^(n-1)) + 1 + 2z) / 2); nothing overflows for n >= 2. */
static inline int32_t cortexm_simple_code(int32_t value, int32_t multiplier, int32_t shift,
                                          int32_t twice_zero_point_plus_one)
{
    const int32_t high = cortexm_high_mul(value, multiplier);
    const int32_t code = ((high + (high >> 31)) >> (-1 - shift)) + twice_zero_point_plus_one;

    return cortexm_clamp(code >> 1, INT8_MIN, INT8_MAX);
}

/* common/codes.h */
CORTEXM_SHARED void cortexm_simple_codes(const cortexm_codes_t *codes, int32_t o,
                                         const int32_t *value, int32_t rows, int8_t *const *out)
{
    const int32_t end = o + cortexm_max(rows, CORTEXM_CHANNELS);

    rows = rows >= CORTEXM_CHANNELS ? 1 : rows;
    for (; o != end; ++o) {
        const int32_t m = CORTEXM_Q31(codes->multiplier[o]);
        const int32_t s = codes->shift[o];

        for (int32_t i = 0; i < rows; ++i) {
            out[i][o] = (int8_t)cortexm_simple_code(value[4 * i], m, s, 2 * codes->zero_point + 1);
        }
        ++value;
    }
}

#endif

#endif
