/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_cumsum_s32_ref
#define ELEMENT int32_t
#include "cumsum_ref.inc"
