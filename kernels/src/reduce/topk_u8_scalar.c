/* SPDX-License-Identifier: Apache-2.0 */
/* topk, uint8, portable C. */
#define FUNCTION cortexm_topk_u8_scalar
#define ELEMENT uint8_t
#include "topk_scalar.inc"
