/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_scatter_x16_ref
#define ELEMENT uint16_t
#define ADD(old, x) (x)
#include "scatter_ref.inc"
