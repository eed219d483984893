/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add, uint8, portable C. */
#define FUNCTION cortexm_scatter_add_u8_scalar
#define ELEMENT uint8_t
#define STORE(to, x) ((to) = (ELEMENT)((to) + (x)))
#include "scatter_scalar.inc"
