/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_topk_s16_ref
#define ELEMENT int16_t
#include "topk_ref.inc"
