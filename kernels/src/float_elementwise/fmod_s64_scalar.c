/* SPDX-License-Identifier: Apache-2.0 */
/* fmod of int64_t, portable C. */
#define FUNCTION fmod
#define TYPES s64
#define ELEMENT int64_t
#include "binary_scalar.inc"
