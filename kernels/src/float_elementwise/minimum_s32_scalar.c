/* SPDX-License-Identifier: Apache-2.0 */
/* minimum of int32_t, portable C. */
#define FUNCTION minimum
#define TYPES s32
#define ELEMENT int32_t
#include "binary_scalar.inc"
