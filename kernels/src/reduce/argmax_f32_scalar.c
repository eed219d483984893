/* SPDX-License-Identifier: Apache-2.0 */
/* argmax, float32, portable C. */
#define FUNCTION cortexm_argmax_f32_scalar
#define ELEMENT float
#define BETTER(x, best) CORTEXM_ABOVE(x, best)
#include "arg_scalar.inc"
