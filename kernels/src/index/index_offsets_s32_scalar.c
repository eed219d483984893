/* SPDX-License-Identifier: Apache-2.0 */
/* index_offsets, int32, portable C. */
#define FUNCTION cortexm_index_offsets_s32_scalar
#define ELEMENT int32_t
#include "index_offsets_scalar.inc"
