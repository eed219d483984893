/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int16 codes, DSP instructions. */
#ifndef CORTEXM_RECURRENT_S16_DSP_H
#define CORTEXM_RECURRENT_S16_DSP_H

#include "recurrent/products_dsp.h"

static inline void put_row(ROW *row, const int16_t *codes, int32_t n)
{
    memcpy(row, codes, (uint32_t)n * sizeof *row);
}

#endif
