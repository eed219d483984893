/* SPDX-License-Identifier: Apache-2.0 */
/* cast, uint8 and bool to int32, portable C. */
#define FUNCTION cortexm_cast_u8s32_scalar
#define FROM uint8_t
#define TO int32_t
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
