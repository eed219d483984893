/* SPDX-License-Identifier: Apache-2.0 */
/* fill of elements of 2 bytes, portable C. */
#define FUNCTION cortexm_fill_x16_scalar
#define ELEMENT cortexm_x16_t
#include "fill_scalar.inc"
