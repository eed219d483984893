/* SPDX-License-Identifier: Apache-2.0 */
/* topk, int8, portable C. */
#define FUNCTION cortexm_topk_s8_scalar
#define ELEMENT int8_t
#include "topk_scalar.inc"
