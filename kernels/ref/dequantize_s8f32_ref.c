/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_dequantize_s8f32_ref
#define ELEMENT int8_t
#include "dequantize_ref.inc"
