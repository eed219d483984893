/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_maximum_s8_ref
#define ELEMENT int8_t
#define OP >
#include "minmax_ref.inc"
