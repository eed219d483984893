/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_gather_x32_ref
#define ELEMENT uint32_t
#include "gather_ref.inc"
