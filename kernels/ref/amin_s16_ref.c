/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_amin_s16_ref
#define ELEMENT int16_t
#define STEP(best, x) ((x) < (best) ? (x) : (best))
#define FINISH(best, n) (best)
#include "reduce_ref.inc"
