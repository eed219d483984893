/* SPDX-License-Identifier: Apache-2.0 */
/* mean, float32, portable C. */
#define FUNCTION cortexm_mean_f32_scalar
#define ELEMENT float
#define START(x) (-0.0f)
#define STEP(sum, x) ((sum) + (x))
#define FINISH(sum, n) ((sum) / (float)(n))
#include "reduce_scalar.inc"
