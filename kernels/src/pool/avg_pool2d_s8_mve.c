/* SPDX-License-Identifier: Apache-2.0 */
/* avg_pool2d, int8, MVE: four channels at a time, in windows of less than 4080 pixels. See README.md
 * for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "avg_pool2d_s8_mve.c needs MVE"
#endif

#include <arm_mve.h>

#include "cortexm/params.h"

/*
 * sum / count, ties away from zero: floor((|sum| + count / 2) / count) with the sign of the sum.
 *
 * With m = ceil(2^31 / d) = (2^31 + e) / d, e < d, floor(n / d) is floor(2n * m / 2^32) as long as
 * n * e < 2^31. Here n <= 128 d + d / 2, so it is for all d < 4080.
 */
static inline void store(int8_t *out, int32x4_t sum, int32_t count, const cortexm_pool_s8_t *p)
{
    const uint32_t d = (uint32_t)count;
    const uint32x4_t m = vdupq_n_u32((UINT32_C(0x80000000) + d - 1) / d);
    const uint32x4_t n = vaddq_n_u32(vreinterpretq_u32_s32(vabsq_s32(sum)), d / 2);
    int32x4_t mean = vreinterpretq_s32_u32(vmulhq_u32(vaddq_u32(n, n), m));

    mean = vnegq_m_s32(mean, mean, vcmpltq_n_s32(sum, 0));
    mean = vminq_s32(vmaxq_s32(mean, vdupq_n_s32(p->act_min)), vdupq_n_s32(p->act_max));
    vstrbq_s32(out, mean);
}

#define FUNCTION cortexm_avg_pool2d_s8_mve
#define LANES 4
#define VECTOR int32x4_t
#define POOL_START vdupq_n_s32(0)
#define POOL_TAKE(value, codes) vaddq_s32(value, vldrbq_s32(codes))
#define POOL_STORE store
#include "pool_s8_mve.inc"
