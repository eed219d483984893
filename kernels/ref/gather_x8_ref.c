/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_gather_x8_ref
#define ELEMENT uint8_t
#include "gather_ref.inc"
