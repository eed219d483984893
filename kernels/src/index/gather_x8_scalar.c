/* SPDX-License-Identifier: Apache-2.0 */
/* gather, elements of 1 byte, portable C. */
#define FUNCTION cortexm_gather_x8_scalar
#define ELEMENT cortexm_x8_t
#include "gather_scalar.inc"
