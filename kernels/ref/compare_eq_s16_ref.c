/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_compare_eq_s16_ref
#define ELEMENT int16_t
#define RELATION ==
#include "compare_ref.inc"
