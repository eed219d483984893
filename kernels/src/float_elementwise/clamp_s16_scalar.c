/* SPDX-License-Identifier: Apache-2.0 */
/* clamp of int16_t, portable C. */
#define TYPES s16
#define ELEMENT int16_t
#define PARAMS cortexm_clamp_t
#include "clamp_scalar.inc"
