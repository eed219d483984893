/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_where_x32_ref
#define ELEMENT uint32_t
#include "where_ref.inc"
