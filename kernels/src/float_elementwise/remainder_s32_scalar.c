/* SPDX-License-Identifier: Apache-2.0 */
/* remainder of int32_t, portable C. */
#define FUNCTION remainder
#define TYPES s32
#define ELEMENT int32_t
#include "binary_scalar.inc"
