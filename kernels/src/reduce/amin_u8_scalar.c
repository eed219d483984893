/* SPDX-License-Identifier: Apache-2.0 */
/* amin, uint8 and bool, portable C. */
#define FUNCTION cortexm_amin_u8_scalar
#define ELEMENT uint8_t
#define START(x) (x)
#define STEP(best, x) (CORTEXM_BELOW(x, best) ? (x) : (best))
#define FINISH(best, n) ((void)(n), best)
#include "reduce/extreme.h"
#include "reduce_scalar.inc"
