/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_f32u8_ref
#define FROM float
#define TO uint8_t
#define LOW INT32_MIN
#define HIGH INT32_MAX
#include "cast_ref.inc"
