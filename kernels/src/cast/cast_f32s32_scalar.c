/* SPDX-License-Identifier: Apache-2.0 */
/* cast, float32 to int32, portable C. */
#define FUNCTION cortexm_cast_f32s32_scalar
#define FROM float
#define TO int32_t
#define CONVERT(x) cortexm_to_s32(x)
#include "cast_scalar.inc"
