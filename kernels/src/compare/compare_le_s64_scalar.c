/* SPDX-License-Identifier: Apache-2.0 */
/* a <= b, int64, portable C. */
#define FUNCTION cortexm_compare_le_s64_scalar
#define ELEMENT int64_t
#define RELATION <=
#include "compare_scalar.inc"
