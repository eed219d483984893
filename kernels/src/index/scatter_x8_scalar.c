/* SPDX-License-Identifier: Apache-2.0 */
/* scatter, elements of 1 byte, portable C. */
#define FUNCTION cortexm_scatter_x8_scalar
#define ELEMENT cortexm_x8_t
#define STORE(to, x) ((to) = (x))
#include "scatter_scalar.inc"
