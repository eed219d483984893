/* SPDX-License-Identifier: Apache-2.0 */
/* cast, uint8 and bool to int64, portable C. */
#define FUNCTION cortexm_cast_u8s64_scalar
#define FROM uint8_t
#define TO int64_t
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
