/* SPDX-License-Identifier: Apache-2.0 */
/* a != b, int16, portable C. */
#define FUNCTION cortexm_compare_ne_s16_scalar
#define ELEMENT int16_t
#define RELATION !=
#include "compare_scalar.inc"
