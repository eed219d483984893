/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_avg_pool2d_s8_ref
#define RESULT(sum, largest, count) ((void)(largest), ref_round_div(sum, count))
#include "pool_s8_ref.inc"
