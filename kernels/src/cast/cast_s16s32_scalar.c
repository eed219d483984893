/* SPDX-License-Identifier: Apache-2.0 */
/* cast, int16 to int32, portable C. */
#define FUNCTION cortexm_cast_s16s32_scalar
#define FROM int16_t
#define TO int32_t
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
