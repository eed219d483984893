/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of lstm, gru and rnn share. */
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
