/* SPDX-License-Identifier: Apache-2.0 */
/* cast, uint8 and bool to float32, portable C. */
#define FUNCTION cortexm_cast_u8f32_scalar
#define FROM uint8_t
#define TO float
#define CONVERT(x) CORTEXM_SAME(x)
#include "cast_scalar.inc"
