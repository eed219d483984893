/* SPDX-License-Identifier: Apache-2.0 */
/* topk, int16, portable C. */
#define FUNCTION cortexm_topk_s16_scalar
#define ELEMENT int16_t
#include "topk_scalar.inc"
