/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int8 codes, DSP instructions: widened to 16 bits. */
#ifndef CORTEXM_RECURRENT_S8_DSP_H
#define CORTEXM_RECURRENT_S8_DSP_H

#include "recurrent/products_dsp.h"

static inline void put_row(ROW *row, const int8_t *codes, int32_t n)
{
    for (; n > 0; --n) {
        *row++ = *codes++;
    }
}

#endif
