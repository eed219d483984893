/* SPDX-License-Identifier: Apache-2.0 */
/* amax, uint8 and bool, portable C. */
#define FUNCTION cortexm_amax_u8_scalar
#define ELEMENT uint8_t
#define START(x) (x)
#define STEP(best, x) (CORTEXM_ABOVE(x, best) ? (x) : (best))
#define FINISH(best, n) ((void)(n), best)
#include "reduce/extreme.h"
#include "reduce_scalar.inc"
