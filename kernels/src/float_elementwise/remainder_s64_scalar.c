/* SPDX-License-Identifier: Apache-2.0 */
/* remainder of int64_t, portable C. */
#define FUNCTION remainder
#define TYPES s64
#define ELEMENT int64_t
#include "binary_scalar.inc"
