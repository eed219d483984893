/* SPDX-License-Identifier: Apache-2.0 */
/* clamp of int8_t, portable C. */
#define TYPES s8
#define ELEMENT int8_t
#define PARAMS cortexm_clamp_t
#include "clamp_scalar.inc"
