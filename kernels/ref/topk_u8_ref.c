/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_topk_u8_ref
#define ELEMENT uint8_t
#include "topk_ref.inc"
