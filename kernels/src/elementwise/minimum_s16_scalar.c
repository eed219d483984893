/* SPDX-License-Identifier: Apache-2.0 */
/* minimum, int16, portable C. */
#define FUNCTION cortexm_minimum_s16_scalar
#define ELEMENT int16_t
#define CHOOSE(x, y) ((x) < (y) ? (x) : (y))
#include "minmax_scalar.inc"
