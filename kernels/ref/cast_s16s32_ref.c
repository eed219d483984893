/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_s16s32_ref
#define FROM int16_t
#define TO int32_t
#include "cast_ref.inc"
