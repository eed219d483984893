/* SPDX-License-Identifier: Apache-2.0 */
/* copy of elements of 1 byte, portable C. */
#define FUNCTION cortexm_copy_x8_scalar
#define ELEMENT cortexm_x8_t
#include "copy_scalar.inc"
