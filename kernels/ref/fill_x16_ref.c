/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_fill_x16_ref
#define ELEMENT uint16_t
#include "fill_ref.inc"
