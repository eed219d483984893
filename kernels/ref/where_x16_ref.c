/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_where_x16_ref
#define ELEMENT uint16_t
#include "where_ref.inc"
