/* SPDX-License-Identifier: Apache-2.0 */
/* cast, int32 to float32, portable C. */
#define FUNCTION cortexm_cast_s32f32_scalar
#define FROM int32_t
#define TO float
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
