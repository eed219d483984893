/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_topk_s64_ref
#define ELEMENT int64_t
#include "topk_ref.inc"
