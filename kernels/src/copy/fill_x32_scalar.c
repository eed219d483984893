/* SPDX-License-Identifier: Apache-2.0 */
/* fill of elements of 4 bytes, portable C. */
#define FUNCTION cortexm_fill_x32_scalar
#define ELEMENT cortexm_x32_t
#include "fill_scalar.inc"
