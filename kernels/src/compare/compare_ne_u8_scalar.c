/* SPDX-License-Identifier: Apache-2.0 */
/* a != b, uint8 and bool, portable C. */
#define FUNCTION cortexm_compare_ne_u8_scalar
#define ELEMENT uint8_t
#define RELATION !=
#include "compare_scalar.inc"
