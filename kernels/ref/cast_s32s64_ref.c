/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_s32s64_ref
#define FROM int32_t
#define TO int64_t
#include "cast_ref.inc"
