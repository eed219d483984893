/* SPDX-License-Identifier: Apache-2.0 */
/* quantize, float to int8, portable C. See README.md for the formula. */
#define KERNEL cortexm_quantize_f32s8_scalar
#define ELEMENT int8_t
#include "quantize_scalar.inc"
