/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_scatter_x8_ref
#define ELEMENT uint8_t
#define ADD(old, x) (x)
#include "scatter_ref.inc"
