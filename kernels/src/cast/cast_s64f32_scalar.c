/* SPDX-License-Identifier: Apache-2.0 */
/* cast, int64 to float32, portable C. */
#define FUNCTION cortexm_cast_s64f32_scalar
#define FROM int64_t
#define TO float
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
