/* SPDX-License-Identifier: Apache-2.0 */
/* trunc_divide of int64_t, portable C. */
#define FUNCTION trunc_divide
#define TYPES s64
#define ELEMENT int64_t
#include "binary_scalar.inc"
