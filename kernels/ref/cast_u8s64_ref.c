/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_u8s64_ref
#define FROM uint8_t
#define TO int64_t
#include "cast_ref.inc"
