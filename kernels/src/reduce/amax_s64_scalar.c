/* SPDX-License-Identifier: Apache-2.0 */
/* amax, int64, portable C. */
#define FUNCTION cortexm_amax_s64_scalar
#define ELEMENT int64_t
#define START(x) (x)
#define STEP(best, x) (CORTEXM_ABOVE(x, best) ? (x) : (best))
#define FINISH(best, n) ((void)(n), best)
#include "reduce/extreme.h"
#include "reduce_scalar.inc"
