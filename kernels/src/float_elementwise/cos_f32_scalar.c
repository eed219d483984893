/* SPDX-License-Identifier: Apache-2.0 */
/* cos of float, portable C. */
#define FUNCTION cos
#define TYPES f32
#define ELEMENT float
#define PARAMS cortexm_unary_f32_t
#include "unary_scalar.inc"
