/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_where_x64_ref
#define ELEMENT uint64_t
#include "where_ref.inc"
