/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add, int64, portable C. */
#define FUNCTION cortexm_scatter_add_s64_scalar
#define ELEMENT int64_t
#define STORE(to, x) ((to) = (ELEMENT)((to) + (x)))
#include "scatter_scalar.inc"
