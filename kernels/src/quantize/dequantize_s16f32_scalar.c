/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize, int16 to float, portable C. See README.md for the formula. */
#define FUNCTION cortexm_dequantize_s16f32_scalar
#define ELEMENT int16_t
#define SCALED(value, scale) ((float)(value) * (scale))
#include "dequantize_scalar.inc"
