/* SPDX-License-Identifier: Apache-2.0 */
/* copy of elements of 8 bytes, portable C. */
#define FUNCTION cortexm_copy_x64_scalar
#define ELEMENT cortexm_x64_t
#include "copy_scalar.inc"
