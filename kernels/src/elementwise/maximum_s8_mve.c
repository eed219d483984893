/* SPDX-License-Identifier: Apache-2.0 */
/* maximum, int8, MVE. */
#if !defined(__ARM_FEATURE_MVE)
#error "maximum_s8_mve.c needs MVE"
#endif

#define FUNCTION cortexm_maximum_s8_mve
#define INSTRUCTION "vmax.s8"
#include "minmax_mve.inc"
