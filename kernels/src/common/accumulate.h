/* SPDX-License-Identifier: Apache-2.0 */
/* Sums: of runs of codes, and of floats, term by term. There the order is part of a layer's
 * definition; four sums that share one operand are computed together, each in its order. */
#ifndef CORTEXM_COMMON_ACCUMULATE_H
#define CORTEXM_COMMON_ACCUMULATE_H

#include <stdint.h>

#include "common/stamp.h"

/* sum of a[0..n) */
static inline int32_t cortexm_sum_s8(const int8_t *a, int32_t n)
{
    const int8_t *const end = a + n;
    int32_t sum = 0;

    while (a != end) {
        sum += *a++;
    }
    return sum;
}

/* sum + a[0] * b[0] + a[a_step] * b[b_step] + ..., n products, from left to right */
static inline float cortexm_accumulate(float sum, const float *a, int32_t a_step, const float *b,
                                       int32_t b_step, int32_t n)
{
    for (; n > 0; --n) {
        sum += *a * *b;
        a += a_step;
        b += b_step;
    }
    return sum;
}

/* How to walk an operand: from one term to the next, and what to add at the end of a row of terms and
 * of a plane of rows. */
typedef struct {
    int32_t step, row_gap, plane_gap;
} cortexm_walk_t;

/* The terms of four sums: the walks over the operand that they share and over those that lie `apart`,
 * and their extents. */
typedef struct {
    cortexm_walk_t shared, own;
    int32_t apart;
    int32_t planes, rows, columns;
} cortexm_terms_t;

/* sum[i] += the products of x's terms with those of y + i * apart, for four sums. */
static CORTEXM_APART void cortexm_accumulate4(float sum[4], const cortexm_terms_t *terms,
                                              const float *x, const float *y)
{
    const int32_t x_step = terms->shared.step;
    const int32_t y_step = terms->own.step;
    const float *y1 = y + terms->apart;
    const float *y2 = y1 + terms->apart;
    const float *y3 = y2 + terms->apart;
    float sum0 = sum[0];
    float sum1 = sum[1];
    float sum2 = sum[2];
    float sum3 = sum[3];

    for (int32_t plane = terms->planes; plane > 0; --plane) {
        for (int32_t row = terms->rows; row > 0; --row) {
            for (int32_t column = terms->columns; column > 0; --column) {
                const float value = *x;

                sum0 += value * *y;
                sum1 += value * *y1;
                sum2 += value * *y2;
                sum3 += value * *y3;
                x += x_step;
                y += y_step;
                y1 += y_step;
                y2 += y_step;
                y3 += y_step;
            }
            x += terms->shared.row_gap;
            y += terms->own.row_gap;
            y1 += terms->own.row_gap;
            y2 += terms->own.row_gap;
            y3 += terms->own.row_gap;
        }
        x += terms->shared.plane_gap;
        y += terms->own.plane_gap;
        y1 += terms->own.plane_gap;
        y2 += terms->own.plane_gap;
        y3 += terms->own.plane_gap;
    }
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}

#endif
