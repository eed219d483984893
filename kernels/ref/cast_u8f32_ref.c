/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_u8f32_ref
#define FROM uint8_t
#define TO float
#include "cast_ref.inc"
