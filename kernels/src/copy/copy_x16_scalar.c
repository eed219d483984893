/* SPDX-License-Identifier: Apache-2.0 */
/* copy of elements of 2 bytes, portable C. */
#define FUNCTION cortexm_copy_x16_scalar
#define ELEMENT cortexm_x16_t
#include "copy_scalar.inc"
