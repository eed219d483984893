/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_amax_s64_ref
#define ELEMENT int64_t
#define STEP(best, x) ((x) > (best) ? (x) : (best))
#define FINISH(best, n) (best)
#include "reduce_ref.inc"
