/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_compare_eq_u8_ref
#define ELEMENT uint8_t
#define RELATION ==
#include "compare_ref.inc"
