/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_where_x8_ref
#define ELEMENT uint8_t
#include "where_ref.inc"
