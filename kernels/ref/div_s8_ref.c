/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_div_s8_ref
#define ELEMENT int8_t
#define ELEMENT_MIN INT8_MIN
#define ELEMENT_MAX INT8_MAX
#include "div_ref.inc"
