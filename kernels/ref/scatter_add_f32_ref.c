/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_scatter_add_f32_ref
#define ELEMENT float
#define ADD(old, x) ((old) + (x))
#include "scatter_ref.inc"
