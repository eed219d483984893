/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_maximum_s16_ref
#define ELEMENT int16_t
#define OP >
#include "minmax_ref.inc"
