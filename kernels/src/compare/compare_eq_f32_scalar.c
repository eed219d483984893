/* SPDX-License-Identifier: Apache-2.0 */
/* a == b, float32, portable C. */
#define FUNCTION cortexm_compare_eq_f32_scalar
#define ELEMENT float
#define RELATION ==
#include "compare_scalar.inc"
