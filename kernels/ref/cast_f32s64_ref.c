/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_f32s64_ref
#define FROM float
#define TO int64_t
#define LOW INT64_MIN
#define HIGH INT64_MAX
#include "cast_ref.inc"
