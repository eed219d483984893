/* SPDX-License-Identifier: Apache-2.0 */
/* cast, float32 to int64, portable C. */
#define FUNCTION cortexm_cast_f32s64_scalar
#define FROM float
#define TO int64_t
#define CONVERT(x) cortexm_to_s64(x)
#include "cast_scalar.inc"
