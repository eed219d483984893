/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_s16f32_ref
#define FROM int16_t
#define TO float
#include "cast_ref.inc"
