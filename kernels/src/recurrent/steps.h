/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm, gru and rnn: all steps of a sequence. See kernels/README.md for the formulas. A step's sums are
 * products of one row, the codes of h and behind them the inputs, with the weights; the cells make the
 * next h of them. ISA.h has both.
 */
#ifndef CORTEXM_RECURRENT_STEPS_H
#define CORTEXM_RECURRENT_STEPS_H

#include <string.h>

#include "common/stamp.h"
#include "cortexm/kernels.h"
#include CORTEXM_QUOTE(../recurrent/ISA.h)

/* The codes of a row, filled up to fours, and room for eight more. */
static inline int32_t row_codes(int32_t n)
{
    return (n + 15) / 4 * 4;
}

/* Zeros behind a row of n codes. */
static inline void fill_row(ROW *row, int32_t n)
{
    memset(row + n, 0, (uint32_t)(row_codes(n) - n) * sizeof *row);
}

/* Where the inputs lie: behind the codes of h, or in a row of their own. */
static inline ROW *inputs_of(const cortexm_recurrent_t *p, ROW *row)
{
    return row + (p->x_weight == NULL ? p->hidden : row_codes(p->hidden));
}

/* Zeros behind the row, or behind both. */
static inline void fill_rows(const cortexm_recurrent_t *p, ROW *row)
{
    if (p->x_weight == NULL) {
        fill_row(row, p->hidden + p->inputs);
    } else {
        fill_row(row, p->hidden);
        fill_row(inputs_of(p, row), p->inputs);
    }
}

/* sum[0 ... outputs) = bias + the products of both: of one row, or of two, of which h's count 2^-h_shift. */
static inline void add_rows(const cortexm_recurrent_t *p, const ROW *row, const ROW *inputs,
                            const int8_t *weight, const int32_t *bias, int32_t outputs, int32_t *sum)
{
    if (p->x_weight == NULL) {
        add_products(row, p->hidden + p->inputs, weight, bias, outputs, sum);
        return;
    }
    memset(sum, 0, (uint32_t)outputs * sizeof *sum);
    add_products(row, p->hidden, weight, sum, outputs, sum);
    for (int32_t o = 0; o < outputs; ++o) {
        sum[o] = (sum[o] >> p->h_shift) + bias[o];
    }
    add_products(inputs, p->inputs, p->x_weight, sum, outputs, sum);
}

#endif
