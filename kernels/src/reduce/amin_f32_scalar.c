/* SPDX-License-Identifier: Apache-2.0 */
/* amin, float32, portable C. */
#define FUNCTION cortexm_amin_f32_scalar
#define ELEMENT float
#define START(x) (x)
#define STEP(best, x) (CORTEXM_BELOW(x, best) ? (x) : (best))
#define FINISH(best, n) ((void)(n), best)
#include "reduce/extreme.h"
#include "reduce_scalar.inc"
