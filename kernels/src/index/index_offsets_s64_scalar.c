/* SPDX-License-Identifier: Apache-2.0 */
/* index_offsets, int64, portable C. */
#define FUNCTION cortexm_index_offsets_s64_scalar
#define ELEMENT int64_t
#include "index_offsets_scalar.inc"
