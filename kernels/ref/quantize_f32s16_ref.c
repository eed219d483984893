/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_quantize_f32s16_ref
#define ELEMENT int16_t
#include "quantize_ref.inc"
