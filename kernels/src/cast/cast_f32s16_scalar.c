/* SPDX-License-Identifier: Apache-2.0 */
/* cast, float32 to int16, portable C. */
#define FUNCTION cortexm_cast_f32s16_scalar
#define FROM float
#define TO int16_t
#define CONVERT(x) cortexm_to_s32(x)
#include "cast_scalar.inc"
