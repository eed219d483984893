/* SPDX-License-Identifier: Apache-2.0 */
/* add of int64_t, portable C. */
#define FUNCTION add
#define TYPES s64
#define ELEMENT int64_t
#include "binary_scalar.inc"
