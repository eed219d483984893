/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_amax_f32_ref
#define ELEMENT float
#define STEP(best, x) ((x) > (best) || ((x) != (x) && (best) == (best)) ? (x) : (best))
#define FINISH(best, n) (best)
#include "reduce_ref.inc"
