/* SPDX-License-Identifier: Apache-2.0 */
/* minimum of int64_t, portable C. */
#define FUNCTION minimum
#define TYPES s64
#define ELEMENT int64_t
#include "binary_scalar.inc"
