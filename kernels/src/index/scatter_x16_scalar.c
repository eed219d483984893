/* SPDX-License-Identifier: Apache-2.0 */
/* scatter, elements of 2 bytes, portable C. */
#define FUNCTION cortexm_scatter_x16_scalar
#define ELEMENT cortexm_x16_t
#define STORE(to, x) ((to) = (x))
#include "scatter_scalar.inc"
