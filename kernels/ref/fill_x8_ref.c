/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_fill_x8_ref
#define ELEMENT uint8_t
#include "fill_ref.inc"
