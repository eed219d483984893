/* SPDX-License-Identifier: Apache-2.0 */
/* where, elements of 2 bytes, portable C. */
#define FUNCTION cortexm_where_x16_scalar
#define ELEMENT cortexm_x16_t
#include "where_scalar.inc"
