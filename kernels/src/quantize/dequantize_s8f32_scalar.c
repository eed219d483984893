/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize, int8 to float, portable C. See README.md for the formula. */
#define KERNEL cortexm_dequantize_s8f32_scalar
#define ELEMENT int8_t
#include "dequantize_scalar.inc"
