/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_sum_s64_ref
#define ELEMENT int64_t
#define STEP(sum, x) ((sum) + (x))
#define FINISH(sum, n) (sum)
#include "reduce_ref.inc"
