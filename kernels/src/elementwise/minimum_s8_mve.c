/* SPDX-License-Identifier: Apache-2.0 */
/* minimum, int8, MVE. */
#if !defined(__ARM_FEATURE_MVE)
#error "minimum_s8_mve.c needs MVE"
#endif

#define FUNCTION cortexm_minimum_s8_mve
#define INSTRUCTION "vmin.s8"
#include "minmax_mve.inc"
