/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_index_offsets_s32_ref
#define ELEMENT int32_t
#include "index_offsets_ref.inc"
