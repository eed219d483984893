/* SPDX-License-Identifier: Apache-2.0 */
/* topk, float32, portable C. */
#define FUNCTION cortexm_topk_f32_scalar
#define ELEMENT float
#include "topk_scalar.inc"
