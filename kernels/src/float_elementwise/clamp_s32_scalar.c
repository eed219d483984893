/* SPDX-License-Identifier: Apache-2.0 */
/* clamp of int32_t, portable C. */
#define TYPES s32
#define ELEMENT int32_t
#define PARAMS cortexm_clamp_t
#include "clamp_scalar.inc"
