/* SPDX-License-Identifier: Apache-2.0 */
/* cumsum, int64, portable C. */
#define FUNCTION cortexm_cumsum_s64_scalar
#define ELEMENT int64_t
#include "cumsum_scalar.inc"
