/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_compare_ne_s64_ref
#define ELEMENT int64_t
#define RELATION !=
#include "compare_ref.inc"
