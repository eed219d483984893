/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_topk_s32_ref
#define ELEMENT int32_t
#include "topk_ref.inc"
