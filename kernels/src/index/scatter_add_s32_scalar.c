/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add, int32, portable C. */
#define FUNCTION cortexm_scatter_add_s32_scalar
#define ELEMENT int32_t
#define STORE(to, x) ((to) = (ELEMENT)((to) + (x)))
#include "scatter_scalar.inc"
