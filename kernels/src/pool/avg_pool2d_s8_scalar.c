/* SPDX-License-Identifier: Apache-2.0 */
/* avg_pool2d, int8, portable C. See README.md for the formula. */
#include <stdint.h>

#include "cortexm/assert.h"

/* sum / count, ties away from zero: C's division drops the fraction, so half the divisor with the
 * sign of the sum goes before it. A core without a divider stays fast where count is 1. */
static int32_t average(int32_t sum, int32_t count)
{
    const int32_t half = count / 2;

    CORTEXM_ASSERT(count > 0);
    return count == 1 ? sum : (sum >= 0 ? sum + half : sum - half) / count;
}

#define FUNCTION cortexm_avg_pool2d_s8_scalar
#define POOL_START 0
#define POOL_TAKE(value, code) ((value) + (code))
#define POOL_RESULT(value, count) average(value, count)
#include "pool_s8_scalar.inc"
