/* SPDX-License-Identifier: Apache-2.0 */
/* topk, int32, portable C. */
#define FUNCTION cortexm_topk_s32_scalar
#define ELEMENT int32_t
#include "topk_scalar.inc"
