/* SPDX-License-Identifier: Apache-2.0 */
/* argmax, uint8 and bool, portable C. */
#define FUNCTION cortexm_argmax_u8_scalar
#define ELEMENT uint8_t
#define BETTER(x, best) CORTEXM_ABOVE(x, best)
#include "arg_scalar.inc"
