/* SPDX-License-Identifier: Apache-2.0 */
/* scatter, elements of 4 bytes, portable C. */
#define FUNCTION cortexm_scatter_x32_scalar
#define ELEMENT cortexm_x32_t
#define STORE(to, x) ((to) = (x))
#include "scatter_scalar.inc"
