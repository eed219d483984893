/* SPDX-License-Identifier: Apache-2.0 */
/* argmin, float32, portable C. */
#define FUNCTION cortexm_argmin_f32_scalar
#define ELEMENT float
#define BETTER(x, best) CORTEXM_BELOW(x, best)
#include "arg_scalar.inc"
