/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add, float32, portable C. */
#define FUNCTION cortexm_scatter_add_f32_scalar
#define ELEMENT float
#define STORE(to, x) ((to) = (ELEMENT)((to) + (x)))
#include "scatter_scalar.inc"
