/* SPDX-License-Identifier: Apache-2.0 */
/* fill of elements of 1 byte, portable C. */
#define FUNCTION cortexm_fill_x8_scalar
#define ELEMENT cortexm_x8_t
#include "fill_scalar.inc"
