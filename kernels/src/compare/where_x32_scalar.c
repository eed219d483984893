/* SPDX-License-Identifier: Apache-2.0 */
/* where, elements of 4 bytes, portable C. */
#define FUNCTION cortexm_where_x32_scalar
#define ELEMENT cortexm_x32_t
#include "where_scalar.inc"
