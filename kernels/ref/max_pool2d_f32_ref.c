/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_max_pool2d_f32_ref
#define AVERAGE 0
#include "pool_f32_ref.inc"
