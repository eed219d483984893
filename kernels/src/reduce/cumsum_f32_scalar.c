/* SPDX-License-Identifier: Apache-2.0 */
/* cumsum, float32, portable C. */
#define FUNCTION cortexm_cumsum_f32_scalar
#define ELEMENT float
#include "cumsum_scalar.inc"
