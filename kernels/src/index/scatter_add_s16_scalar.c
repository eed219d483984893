/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add, int16, portable C. */
#define FUNCTION cortexm_scatter_add_s16_scalar
#define ELEMENT int16_t
#define STORE(to, x) ((to) = (ELEMENT)((to) + (x)))
#include "scatter_scalar.inc"
