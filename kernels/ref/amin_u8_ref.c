/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_amin_u8_ref
#define ELEMENT uint8_t
#define STEP(best, x) ((x) < (best) ? (x) : (best))
#define FINISH(best, n) (best)
#include "reduce_ref.inc"
