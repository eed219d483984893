/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_compare_lt_s8_ref
#define ELEMENT int8_t
#define RELATION <
#include "compare_ref.inc"
