/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_scatter_add_u8_ref
#define ELEMENT uint8_t
#define ADD(old, x) ((old) + (x))
#include "scatter_ref.inc"
