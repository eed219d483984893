/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_dequantize_s16f32_ref
#define ELEMENT int16_t
#include "dequantize_ref.inc"
