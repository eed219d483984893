/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_s8f32_ref
#define FROM int8_t
#define TO float
#include "cast_ref.inc"
