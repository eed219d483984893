/* SPDX-License-Identifier: Apache-2.0 */
/* gather, elements of 8 bytes, portable C. */
#define FUNCTION cortexm_gather_x64_scalar
#define ELEMENT cortexm_x64_t
#include "gather_scalar.inc"
