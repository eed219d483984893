/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cast_s8s16_ref
#define FROM int8_t
#define TO int16_t
#include "cast_ref.inc"
