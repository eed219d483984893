/* SPDX-License-Identifier: Apache-2.0 */
/* argmin, int64, portable C. */
#define FUNCTION cortexm_argmin_s64_scalar
#define ELEMENT int64_t
#define BETTER(x, best) CORTEXM_BELOW(x, best)
#include "arg_scalar.inc"
