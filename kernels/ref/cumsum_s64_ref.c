/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cumsum_s64_ref
#define ELEMENT int64_t
#include "cumsum_ref.inc"
