/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_f32s32_ref
#define FROM float
#define TO int32_t
#define LOW INT32_MIN
#define HIGH INT32_MAX
#include "cast_ref.inc"
