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

#endif
