/* SPDX-License-Identifier: Apache-2.0 */
/* sum, float32; -0 is what a float sum begins with, for 0 + -0 is not -0, portable C. */
#define FUNCTION cortexm_sum_f32_scalar
#define ELEMENT float
#define START(x) (-0.0f)
#define STEP(sum, x) ((sum) + (x))
#define FINISH(sum, n) ((void)(n), sum)
#include "reduce_scalar.inc"
