/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_fill_x32_ref
#define ELEMENT uint32_t
#include "fill_ref.inc"
