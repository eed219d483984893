/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_quantize_f32s8_ref
#define ELEMENT int8_t
#include "quantize_ref.inc"
