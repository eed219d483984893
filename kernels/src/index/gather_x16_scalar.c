/* SPDX-License-Identifier: Apache-2.0 */
/* gather, elements of 2 bytes, portable C. */
#define FUNCTION cortexm_gather_x16_scalar
#define ELEMENT cortexm_x16_t
#include "gather_scalar.inc"
