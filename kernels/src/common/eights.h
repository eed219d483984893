/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of one row of codes with eight outputs' weights at a time, for cores without SIMD.
 */
#ifndef CORTEXM_COMMON_EIGHTS_H
#define CORTEXM_COMMON_EIGHTS_H

#include <stdint.h>

#include "common/codes.h"
#include "common/nibbles.h"
#include "common/stamp.h"

#if CODE_BITS == 8

/*
 * int8: four sums in three words.
 *
 * Weights are packed as "fours" (python/cortexm_tools/plan/kernels/packing_scalar.py): outputs in blocks of four, each
 * block [k][4] bytes w + 128; up to three outputs that are left follow, [k] bytes each, for
 * cortexm_quads_rest. So four outputs' weights for one input are a word W, and an input times
 * W, W with its bytes reversed, and W with the bytes of each half swapped adds to four sums a, b, c, d
 * at once. With T[0], T[1], T[2] the sums of these products, modulo 2^32,
 *
 *     T[0] = a + 2^8 b + 2^16 c + 2^24 d
 *     T[1] = d + 2^8 c + 2^16 b + 2^24 a
 *     T[2] = b + 2^8 a + 2^16 d + 2^24 c
 *
 * which determine a, b, c, d in [0, 2^24): see cortexm_quads_sums of scalar.h. 512 products of codes lie in
 * [-512 * 128 * 127, 512 * 128 * 128]; with CORTEXM_QUAD_OFFSET added they are in that range. All words
 * start at CORTEXM_QUAD_OFFSET less 128 times the sum of the inputs, for every output.
 *
 * Weights of 4 bits ("nibble_fours") are w + 8 for the inputs k and k + 1 in the lower and the upper
 * half of a byte, so 16 times as many products are in that range; they start less 8 times the sum.
 */

#if WEIGHT_BITS == 4
#define CORTEXM_QUAD_CHUNK 8192
#define CORTEXM_QUAD_RAISED 8 /* what is added to a weight */
#else
#define CORTEXM_QUAD_CHUNK 512
#define CORTEXM_QUAD_RAISED 128
#endif
#define CORTEXM_QUAD_OFFSET ((INT32_C(1) << 23) - 1)

/* sum[o] += products of the n inputs that are left of fours, with weights as they are stored in blocks
 * of four outputs, `second` bytes apart. */
static CORTEXM_APART void cortexm_quads_left(const cortexm_quad_t *x, const uint8_t *w, int32_t n,
                                             int32_t second, int32_t outputs, int32_t *sum)
{
    for (int32_t o = 0; o < outputs; ++o) {
        const uint8_t *const block = w + (o >> 2) * second;
        int32_t products = 0;

        for (int32_t k = 0; k < n; ++k) {
            products += x[k] * (int32_t)cortexm_four(block, k, o & 3);
        }
        sum[o] += products;
    }
}

/* What the words of a chunk start at, for the sum of its inputs. */
static inline uint32_t cortexm_quads_start(int32_t x_sum)
{
    return (uint32_t)(CORTEXM_QUAD_OFFSET - CORTEXM_QUAD_RAISED * x_sum) * 0x01010101u;
}

/* The products of the n <= CORTEXM_QUAD_CHUNK inputs at x, from which `run` is made, with blocks of four
 * outputs at w: sum[i] = base[i] + add + CORTEXM_QUAD_OFFSET + the sum of output i.
 *
 * The inputs that are left of fours have their share in the start, too: a product with -128 keeps a sum in
 * the range as any product does. */
#ifdef CORTEXM_QUADS_ALL

/* With as many blocks as there are outputs, `block` bytes each. */
static inline void cortexm_quads_row(cortexm_quads_t *run, const cortexm_quad_t *x,
                                     const uint8_t *w, int32_t n, uint32_t start, int32_t block,
                                     const int32_t *base, int32_t *sum, int32_t outputs)
{
    const int32_t left = n & 3;
    const int32_t bytes = (n - left) * WEIGHT_BITS / 2;

    run->x = x;
    run->end = x + (n - left);
    run->start = start;
    run->next = block - bytes;
    run->last = sum + outputs;
    cortexm_quads_all(run, w, base, sum);
    if (left != 0) {
        cortexm_quads_left(run->end, w + bytes, left, block, outputs, sum);
    }
}

#else

/* With two, which are run.second bytes apart, or one. */
static inline void cortexm_quads(cortexm_quads_t *run, const cortexm_quad_t *x, const uint8_t *w,
                                 int32_t n, uint32_t start, const int32_t *base, int32_t *sum)
{
    const int32_t left = n & 3;

    run->x = x;
    run->end = x + (n - left);
    run->start = start;
    cortexm_quads_sums(run, w, base, sum);
    if (left != 0) {
        cortexm_quads_left(run->end, w + (n - left) * WEIGHT_BITS / 2, left, run->second,
                           run->second == 0 ? 4 : 8, sum);
    }
}

/* With as many as there are outputs, `block` bytes each. */
static inline void cortexm_quads_row(cortexm_quads_t *run, const cortexm_quad_t *x,
                                     const uint8_t *w, int32_t n, uint32_t start, int32_t block,
                                     const int32_t *base, int32_t *sum, int32_t outputs)
{
    for (int32_t o = 0; o != outputs;) {
        run->second = outputs - o >= 8 ? block : 0;
        cortexm_quads(run, x, w, n, start, base + o, sum + o);
        w += block + run->second;
        o += run->second == 0 ? 4 : 8;
    }
}

#endif

/* Sum of x[k] times the weights of one output that is left, with CORTEXM_QUAD_RAISED times the sum of
 * the inputs. */
static inline int32_t cortexm_quads_rest(const int8_t *x, const uint8_t *w, int32_t n)
{
    const int8_t *const end = x + n;
    int32_t sum = 0;

#if WEIGHT_BITS == 4
    for (; end - x > 1; x += 2) {
        sum += x[0] * (*w & 15) + x[1] * (*w >> 4);
        ++w;
    }
    if (x != end) {
        sum += *x * (*w & 15);
    }
#else
    while (x != end) {
        sum += *x++ * *w++;
    }
#endif
    return sum;
}

#else

/*
 * int16: four sums in four words.
 *
 * Weights are packed as "eights" (python/cortexm_tools/plan/kernels/packing_scalar.py), w + 128: outputs in
 * blocks of eight, each block [k][8] bytes; up to seven outputs that are left follow, [k] bytes each. So
 * the weights of four outputs for one input are a word a + 2^8 b + 2^16 c + 2^24 d. An input times that
 * word, and times the word shifted to the right by 8, 16 and 24 bits, adds to four sums, which come to
 *
 *     T[0] = A + 2^8 T[1]    T[1] = B + 2^8 T[2]    T[2] = C + 2^8 T[3]    T[3] = D
 *
 * modulo 2^32, with the sums A, B, C, D of the products with a, b, c and d: a shift takes a weight out of
 * the word and copies it at once. All sums start at -128 times the sum of the inputs.
 *
 * Weights of 4 bits ("nibble_eights") are w + 8: for one input a word has those of four outputs in the
 * lower halves of its bytes and those of the other four in the upper ones. Of an output that is left
 * a byte has two inputs. The sums start at -8 times that of the inputs.
 */

#if WEIGHT_BITS == 4
#define CORTEXM_EIGHTS_RAISED 8 /* what is added to a weight */
#else
#define CORTEXM_EIGHTS_RAISED 128
#endif

static CORTEXM_APART int32_t cortexm_eights_sum(const int16_t *x, int32_t n)
{
    int32_t sum = 0;

    for (; n >= 4; n -= 4) {
        sum += x[0] + x[1] + x[2] + x[3];
        x += 4;
    }
    for (; n > 0; --n) {
        sum += *x++;
    }
    return sum;
}

/* The sum of products with the weights of one output that is left. */
static CORTEXM_APART int32_t cortexm_eights_rest(const int16_t *x, const uint8_t *w, int32_t n)
{
    int32_t sum = 0;

#if WEIGHT_BITS == 4
    for (; n >= 2; n -= 2) {
        sum += x[0] * (*w & 15) + x[1] * (*w >> 4);
        x += 2;
        ++w;
    }
    if (n > 0) {
        sum += *x * (*w & 15);
    }
#else
    for (; n >= 4; n -= 4) {
        sum += x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3];
        x += 4;
        w += 4;
    }
    for (; n > 0; --n) {
        sum += *x++ * *w++;
    }
#endif
    return sum;
}

#endif

#endif
