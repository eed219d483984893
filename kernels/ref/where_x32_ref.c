/* SPDX-License-Identifier: Apache-2.0 */
#define KERNEL cortexm_where_x32_ref
#define ELEMENT uint32_t
#include "where_ref.inc"
