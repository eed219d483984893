/* SPDX-License-Identifier: Apache-2.0 */
/* cast, int16 to float32, portable C. */
#define FUNCTION cortexm_cast_s16f32_scalar
#define FROM int16_t
#define TO float
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
