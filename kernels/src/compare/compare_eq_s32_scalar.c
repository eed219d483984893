/* SPDX-License-Identifier: Apache-2.0 */
/* a == b, int32, portable C. */
#define FUNCTION cortexm_compare_eq_s32_scalar
#define ELEMENT int32_t
#define RELATION ==
#include "compare_scalar.inc"
