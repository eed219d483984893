/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_s64f32_ref
#define FROM int64_t
#define TO float
#include "cast_ref.inc"
