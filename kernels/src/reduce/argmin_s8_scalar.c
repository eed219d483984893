/* SPDX-License-Identifier: Apache-2.0 */
/* argmin, int8, portable C. */
#define FUNCTION cortexm_argmin_s8_scalar
#define ELEMENT int8_t
#define BETTER(x, best) CORTEXM_BELOW(x, best)
#include "arg_scalar.inc"
