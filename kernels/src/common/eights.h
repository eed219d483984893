/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of one row of int16 codes with eight outputs' weights at a time, for cores without SIMD.
 *
 * Weights are packed as "eights" (python/cortexm_tools/plan/kernels/packing.py), w + 128: outputs in
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
#ifndef CORTEXM_COMMON_EIGHTS_H
#define CORTEXM_COMMON_EIGHTS_H

#include <stdint.h>

#include "common/apart.h"
#include "common/stamp.h"
#include "common/wide_codes.h"

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
