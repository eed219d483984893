/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_compare_le_f32_ref
#define ELEMENT float
#define RELATION <=
#include "compare_ref.inc"
