/* SPDX-License-Identifier: Apache-2.0 */
/* sum, int64, portable C. */
#define FUNCTION cortexm_sum_s64_scalar
#define ELEMENT int64_t
#define START(x) (0)
#define STEP(sum, x) ((sum) + (x))
#define FINISH(sum, n) ((void)(n), sum)
#include "reduce_scalar.inc"
