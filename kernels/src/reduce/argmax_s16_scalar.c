/* SPDX-License-Identifier: Apache-2.0 */
/* argmax, int16, portable C. */
#define FUNCTION cortexm_argmax_s16_scalar
#define ELEMENT int16_t
#define BETTER(x, best) CORTEXM_ABOVE(x, best)
#include "arg_scalar.inc"
