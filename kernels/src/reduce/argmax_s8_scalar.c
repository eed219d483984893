/* SPDX-License-Identifier: Apache-2.0 */
/* argmax, int8, portable C. */
#define FUNCTION cortexm_argmax_s8_scalar
#define ELEMENT int8_t
#define BETTER(x, best) CORTEXM_ABOVE(x, best)
#include "arg_scalar.inc"
