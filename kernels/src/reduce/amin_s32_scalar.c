/* SPDX-License-Identifier: Apache-2.0 */
/* amin, int32, portable C. */
#define FUNCTION cortexm_amin_s32_scalar
#define ELEMENT int32_t
#define START(x) (x)
#define STEP(best, x) (CORTEXM_BELOW(x, best) ? (x) : (best))
#define FINISH(best, n) ((void)(n), best)
#include "reduce/extreme.h"
#include "reduce_scalar.inc"
