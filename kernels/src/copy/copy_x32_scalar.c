/* SPDX-License-Identifier: Apache-2.0 */
/* copy of elements of 4 bytes, portable C. */
#define FUNCTION cortexm_copy_x32_scalar
#define ELEMENT cortexm_x32_t
#include "copy_scalar.inc"
