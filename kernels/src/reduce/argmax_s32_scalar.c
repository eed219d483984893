/* SPDX-License-Identifier: Apache-2.0 */
/* argmax, int32, portable C. */
#define FUNCTION cortexm_argmax_s32_scalar
#define ELEMENT int32_t
#define BETTER(x, best) CORTEXM_ABOVE(x, best)
#include "arg_scalar.inc"
