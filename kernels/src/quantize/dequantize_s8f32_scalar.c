/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize, int8 to float, portable C. See README.md for the formula. */
#include "common/scale.h"

#define FUNCTION cortexm_dequantize_s8f32_scalar
#define ELEMENT int8_t
#define SCALED(value, scale) cortexm_scaled(value, scale)
#include "dequantize_scalar.inc"
