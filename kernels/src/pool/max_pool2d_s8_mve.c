/* SPDX-License-Identifier: Apache-2.0 */
/* max_pool2d, int8, MVE: 16 channels at a time. See README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "max_pool2d_s8_mve.c needs MVE"
#endif

#include <arm_mve.h>

#include "cortexm/params.h"

static inline void store(int8_t *out, int8x16_t value, int32_t count, const cortexm_pool_s8_t *p)
{
    (void)count;
    vstrbq_s8(out, vminq_s8(vmaxq_s8(value, vdupq_n_s8(p->act_min)), vdupq_n_s8(p->act_max)));
}

#define FUNCTION cortexm_max_pool2d_s8_mve
#define LANES 16
#define VECTOR int8x16_t
#define POOL_START vdupq_n_s8(INT8_MIN)
#define POOL_TAKE(value, codes) vmaxq_s8(value, vldrbq_s8(codes))
#define POOL_STORE store
#include "pool_s8_mve.inc"
