/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_maximum_u8_ref
#define ELEMENT uint8_t
#define OP >
#include "minmax_ref.inc"
