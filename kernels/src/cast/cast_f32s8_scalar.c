/* SPDX-License-Identifier: Apache-2.0 */
/* cast, float32 to int8, portable C. */
#define FUNCTION cortexm_cast_f32s8_scalar
#define FROM float
#define TO int8_t
#define CONVERT(x) cortexm_to_s32(x)
#include "cast_scalar.inc"
