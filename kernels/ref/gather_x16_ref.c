/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_gather_x16_ref
#define ELEMENT uint16_t
#include "gather_ref.inc"
