/* SPDX-License-Identifier: Apache-2.0 */
/* erf of float, portable C. */
#define FUNCTION erf
#define TYPES f32
#define ELEMENT float
#define PARAMS cortexm_unary_f32_t
#include "unary_scalar.inc"
