/* SPDX-License-Identifier: Apache-2.0 */
/* avg_pool2d, int8, MVE: four channels at a time. See README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "avg_pool2d_s8_mve.c needs MVE"
#endif

#include <arm_mve.h>

#include "cortexm/params.h"
#include "cortexm/requantize.h"

/* sum / count, ties away from zero: C's division drops the fraction, so half the divisor with the
 * sign of the sum goes before it. */
static inline void store(int8_t *out, int32x4_t sum, int32_t count, const cortexm_pool_s8_t *p)
{
    const int32_t half = count / 2;
    int32_t sums[4];

    vstrwq_s32(sums, sum);
    for (int32_t i = 0; i < 4; ++i) {
        const int32_t mean = (sums[i] >= 0 ? sums[i] + half : sums[i] - half) / count;

        out[i] = (int8_t)cortexm_clamp(mean, p->act_min, p->act_max);
    }
}

#define FUNCTION cortexm_avg_pool2d_s8_mve
#define LANES 4
#define VECTOR int32x4_t
#define POOL_START vdupq_n_s32(0)
#define POOL_TAKE(value, codes) vaddq_s32(value, vldrbq_s32(codes))
#define POOL_STORE store
#include "pool_s8_mve.inc"
