/* SPDX-License-Identifier: Apache-2.0 */
/* maximum, int16, portable C. */
#define FUNCTION cortexm_maximum_s16_scalar
#define ELEMENT int16_t
#define CHOOSE(x, y) ((x) > (y) ? (x) : (y))
#include "minmax_scalar.inc"
