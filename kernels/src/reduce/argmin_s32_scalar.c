/* SPDX-License-Identifier: Apache-2.0 */
/* argmin, int32, portable C. */
#define FUNCTION cortexm_argmin_s32_scalar
#define ELEMENT int32_t
#define BETTER(x, best) CORTEXM_BELOW(x, best)
#include "arg_scalar.inc"
