/* SPDX-License-Identifier: Apache-2.0 */
/* cast, float32 to uint8, portable C. */
#define FUNCTION cortexm_cast_f32u8_scalar
#define FROM float
#define TO uint8_t
#define CONVERT(x) cortexm_to_s32(x)
#include "cast_scalar.inc"
