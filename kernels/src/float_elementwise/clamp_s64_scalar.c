/* SPDX-License-Identifier: Apache-2.0 */
/* clamp of int64_t, portable C. */
#define TYPES s64
#define ELEMENT int64_t
#define PARAMS cortexm_clamp_t
#include "clamp_scalar.inc"
