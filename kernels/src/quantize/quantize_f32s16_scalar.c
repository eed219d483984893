/* SPDX-License-Identifier: Apache-2.0 */
/* quantize, float to int16, portable C. See README.md for the formula. */
#define FUNCTION cortexm_quantize_f32s16_scalar
#define ELEMENT int16_t
#include "quantize_scalar.inc"
