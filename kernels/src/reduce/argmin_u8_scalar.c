/* SPDX-License-Identifier: Apache-2.0 */
/* argmin, uint8 and bool, portable C. */
#define FUNCTION cortexm_argmin_u8_scalar
#define ELEMENT uint8_t
#define BETTER(x, best) CORTEXM_BELOW(x, best)
#include "arg_scalar.inc"
