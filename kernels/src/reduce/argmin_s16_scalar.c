/* SPDX-License-Identifier: Apache-2.0 */
/* argmin, int16, portable C. */
#define FUNCTION cortexm_argmin_s16_scalar
#define ELEMENT int16_t
#define BETTER(x, best) CORTEXM_BELOW(x, best)
#include "arg_scalar.inc"
