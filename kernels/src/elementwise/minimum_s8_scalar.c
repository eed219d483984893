/* SPDX-License-Identifier: Apache-2.0 */
/* minimum, int8, portable C. */
#define FUNCTION cortexm_minimum_s8_scalar
#define ELEMENT int8_t
#define CHOOSE(x, y) ((x) < (y) ? (x) : (y))
#include "minmax_scalar.inc"
