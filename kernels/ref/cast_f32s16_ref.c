/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_f32s16_ref
#define FROM float
#define TO int16_t
#define LOW INT32_MIN
#define HIGH INT32_MAX
#include "cast_ref.inc"
