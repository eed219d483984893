/* SPDX-License-Identifier: Apache-2.0 */
/* where, elements of 8 bytes, portable C. */
#define FUNCTION cortexm_where_x64_scalar
#define ELEMENT cortexm_x64_t
#include "where_scalar.inc"
