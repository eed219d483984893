/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_scatter_add_s32_ref
#define ELEMENT int32_t
#define ADD(old, x) ((old) + (x))
#include "scatter_ref.inc"
