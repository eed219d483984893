/* SPDX-License-Identifier: Apache-2.0 */
/* div, int8, portable C. See README.md for the formula. */
#define FUNCTION cortexm_div_s8_scalar
#define ELEMENT int8_t
#define ELEMENT_MIN INT8_MIN
#define ELEMENT_MAX INT8_MAX
#include "div_scalar.inc"
