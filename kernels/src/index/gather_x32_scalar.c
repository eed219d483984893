/* SPDX-License-Identifier: Apache-2.0 */
/* gather, elements of 4 bytes, portable C. */
#define FUNCTION cortexm_gather_x32_scalar
#define ELEMENT cortexm_x32_t
#include "gather_scalar.inc"
