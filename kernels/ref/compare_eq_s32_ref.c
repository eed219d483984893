/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_compare_eq_s32_ref
#define ELEMENT int32_t
#define RELATION ==
#include "compare_ref.inc"
