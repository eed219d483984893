/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int16 codes, MVE, weights packed as "gemm4_wide" (common/gemm_wide_mve.h). */
#ifndef CORTEXM_RECURRENT_S16_MVE_H
#define CORTEXM_RECURRENT_S16_MVE_H

#include "common/gemm_wide_mve.h"
#include "recurrent/s16/row.h"

#include "recurrent/products_mve.h"

#endif
