/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add, int8, portable C. */
#define FUNCTION cortexm_scatter_add_s8_scalar
#define ELEMENT int8_t
#define STORE(to, x) ((to) = (ELEMENT)((to) + (x)))
#include "scatter_scalar.inc"
