/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int8 codes, MVE, weights packed as "gemm4" (common/gemm_mve.h). */
#ifndef CORTEXM_RECURRENT_S8_MVE_H
#define CORTEXM_RECURRENT_S8_MVE_H

#include "common/gemm_mve.h"

typedef int8_t ROW;
#define ROWS_APART 0

static inline void put_row(ROW *row, const int8_t *codes, int32_t n)
{
    cortexm_copy_mve(row, codes, n);
}

#include "recurrent/products_mve.h"

#endif
