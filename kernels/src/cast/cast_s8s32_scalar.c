/* SPDX-License-Identifier: Apache-2.0 */
/* cast, int8 to int32, portable C. */
#define FUNCTION cortexm_cast_s8s32_scalar
#define FROM int8_t
#define TO int32_t
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
