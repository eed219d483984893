/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cumsum_f32_ref
#define ELEMENT float
#include "cumsum_ref.inc"
