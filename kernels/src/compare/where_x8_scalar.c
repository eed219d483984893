/* SPDX-License-Identifier: Apache-2.0 */
/* where, elements of 1 byte, portable C. */
#define FUNCTION cortexm_where_x8_scalar
#define ELEMENT cortexm_x8_t
#include "where_scalar.inc"
