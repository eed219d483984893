/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_div_s16_ref
#define ELEMENT int16_t
#define ELEMENT_MIN INT16_MIN
#define ELEMENT_MAX INT16_MAX
#include "div_ref.inc"
