/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_topk_s8_ref
#define ELEMENT int8_t
#include "topk_ref.inc"
