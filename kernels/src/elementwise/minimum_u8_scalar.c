/* SPDX-License-Identifier: Apache-2.0 */
/* minimum, uint8 and bool, portable C. */
#define FUNCTION cortexm_minimum_u8_scalar
#define ELEMENT uint8_t
#define CHOOSE(x, y) ((x) < (y) ? (x) : (y))
#include "minmax_scalar.inc"
