/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_index_offsets_s64_ref
#define ELEMENT int64_t
#include "index_offsets_ref.inc"
