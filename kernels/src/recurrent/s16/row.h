/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of int16 codes are the codes. */
#ifndef CORTEXM_RECURRENT_S16_ROW_H
#define CORTEXM_RECURRENT_S16_ROW_H

#include <stdint.h>
#include <string.h>

typedef int16_t ROW;
#define ROWS_APART 0

static inline void put_row(ROW *row, const int16_t *codes, int32_t n)
{
    memcpy(row, codes, (uint32_t)n * sizeof *row);
}

#endif
