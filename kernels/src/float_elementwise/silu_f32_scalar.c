/* SPDX-License-Identifier: Apache-2.0 */
/* silu of float, portable C. */
#define FUNCTION silu
#define TYPES f32
#define ELEMENT float
#define PARAMS cortexm_unary_f32_t
#include "unary_scalar.inc"
