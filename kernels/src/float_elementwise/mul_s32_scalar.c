/* SPDX-License-Identifier: Apache-2.0 */
/* mul of int32_t, portable C. */
#define FUNCTION mul
#define TYPES s32
#define ELEMENT int32_t
#include "binary_scalar.inc"
