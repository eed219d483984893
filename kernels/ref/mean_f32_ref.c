/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_mean_f32_ref
#define ELEMENT float
#define STEP(sum, x) ((sum) + (x))
#define FINISH(sum, n) ((sum) / (float)(n))
#include "reduce_ref.inc"
