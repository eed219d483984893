/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_scatter_add_s8_ref
#define ELEMENT int8_t
#define ADD(old, x) ((old) + (x))
#include "scatter_ref.inc"
