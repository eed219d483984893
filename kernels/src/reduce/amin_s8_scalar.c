/* SPDX-License-Identifier: Apache-2.0 */
/* amin, int8, portable C. */
#define FUNCTION cortexm_amin_s8_scalar
#define ELEMENT int8_t
#define START(x) (x)
#define STEP(best, x) (CORTEXM_BELOW(x, best) ? (x) : (best))
#define FINISH(best, n) ((void)(n), best)
#include "reduce/extreme.h"
#include "reduce_scalar.inc"
