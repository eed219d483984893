/* SPDX-License-Identifier: Apache-2.0 */
/* argmax, int64, portable C. */
#define FUNCTION cortexm_argmax_s64_scalar
#define ELEMENT int64_t
#define BETTER(x, best) CORTEXM_ABOVE(x, best)
#include "arg_scalar.inc"
