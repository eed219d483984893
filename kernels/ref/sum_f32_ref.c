/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_sum_f32_ref
#define ELEMENT float
#define STEP(sum, x) ((sum) + (x))
#define FINISH(sum, n) (sum)
#include "reduce_ref.inc"
