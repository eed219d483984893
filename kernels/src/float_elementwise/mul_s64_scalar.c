/* SPDX-License-Identifier: Apache-2.0 */
/* mul of int64_t, portable C. */
#define FUNCTION mul
#define TYPES s64
#define ELEMENT int64_t
#include "binary_scalar.inc"
