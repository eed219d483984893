/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_max_pool2d_s8_ref
#define RESULT(sum, largest, count) ((void)(sum), (void)(count), largest)
#include "pool_s8_ref.inc"
