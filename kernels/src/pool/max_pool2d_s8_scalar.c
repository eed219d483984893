/* SPDX-License-Identifier: Apache-2.0 */
/* max_pool2d, int8, portable C. See README.md for the formula. */
#define FUNCTION cortexm_max_pool2d_s8_scalar
#define POOL_START INT8_MIN
#define POOL_TAKE(value, code) cortexm_max(value, code)
#define POOL_RESULT(value, count) (value)
#include "pool_s8_scalar.inc"
