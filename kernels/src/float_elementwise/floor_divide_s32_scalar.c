/* SPDX-License-Identifier: Apache-2.0 */
/* floor_divide of int32_t, portable C. */
#define FUNCTION floor_divide
#define TYPES s32
#define ELEMENT int32_t
#include "binary_scalar.inc"
