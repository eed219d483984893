/* SPDX-License-Identifier: Apache-2.0 */
/* cumsum, int32, portable C. */
#define FUNCTION cortexm_cumsum_s32_scalar
#define ELEMENT int32_t
#include "cumsum_scalar.inc"
