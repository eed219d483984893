/* SPDX-License-Identifier: Apache-2.0 */
/* scatter, elements of 8 bytes, portable C. */
#define FUNCTION cortexm_scatter_x64_scalar
#define ELEMENT cortexm_x64_t
#define STORE(to, x) ((to) = (x))
#include "scatter_scalar.inc"
