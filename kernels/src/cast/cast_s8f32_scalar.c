/* SPDX-License-Identifier: Apache-2.0 */
/* cast, int8 to float32, portable C. */
#define FUNCTION cortexm_cast_s8f32_scalar
#define FROM int8_t
#define TO float
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
