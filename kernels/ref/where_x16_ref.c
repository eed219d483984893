/* SPDX-License-Identifier: Apache-2.0 */
#define KERNEL cortexm_where_x16_ref
#define ELEMENT uint16_t
#include "where_ref.inc"
