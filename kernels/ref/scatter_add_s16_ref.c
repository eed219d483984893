/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_scatter_add_s16_ref
#define ELEMENT int16_t
#define ADD(old, x) ((old) + (x))
#include "scatter_ref.inc"
