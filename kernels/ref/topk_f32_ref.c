/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_topk_f32_ref
#define ELEMENT float
#include "topk_ref.inc"
