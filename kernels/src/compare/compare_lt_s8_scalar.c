/* SPDX-License-Identifier: Apache-2.0 */
/* a < b, int8, portable C. */
#define FUNCTION cortexm_compare_lt_s8_scalar
#define ELEMENT int8_t
#define RELATION <
#include "compare_scalar.inc"
