/* SPDX-License-Identifier: Apache-2.0 */
/* div, int16, portable C. See README.md for the formula. */
#define FUNCTION cortexm_div_s16_scalar
#define ELEMENT int16_t
#define ELEMENT_MIN INT16_MIN
#define ELEMENT_MAX INT16_MAX
#include "div_scalar.inc"
