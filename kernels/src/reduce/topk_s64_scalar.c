/* SPDX-License-Identifier: Apache-2.0 */
/* topk, int64, portable C. */
#define FUNCTION cortexm_topk_s64_scalar
#define ELEMENT int64_t
#include "topk_scalar.inc"
