/* SPDX-License-Identifier: Apache-2.0 */
/* fmod of int32_t, portable C. */
#define FUNCTION fmod
#define TYPES s32
#define ELEMENT int32_t
#include "binary_scalar.inc"
