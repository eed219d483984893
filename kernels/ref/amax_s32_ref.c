/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_amax_s32_ref
#define ELEMENT int32_t
#define STEP(best, x) ((x) > (best) ? (x) : (best))
#define FINISH(best, n) (best)
#include "reduce_ref.inc"
