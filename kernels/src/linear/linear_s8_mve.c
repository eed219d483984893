/* SPDX-License-Identifier: Apache-2.0 */
/* linear, int8, MVE: four outputs at a time (gemm_mve.h). See README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "linear_s8_mve.c needs MVE"
#endif

#include "common/gemm_mve.h"
#include "common/memory_mve.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

void cortexm_linear_s8_mve(const cortexm_linear_s8_t *params, const int8_t *in,
                           const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const cortexm_finish_t finish = cortexm_finish_of(p->out_zero_point, p->act_min, p->act_max);
    const cortexm_depth_t depth = cortexm_depth_of(p->in_features);
    const int32x4_t left_shift = vdupq_n_s32(cortexm_max(p->shift, 0));
    const int32_t right_shift = cortexm_min(p->shift, 0);

    (void)scratch;
    CORTEXM_ASSERT(p->act_min <= p->act_max);

    for (int32_t row = 0; row < p->rows; ++row) {
        const int8_t *w = weight;
        const int32_t *b = bias;
        int32_t offset = 0; /* what the weights' zero point adds to every sum of this row */
        int32_t left = p->out_features;

        if (p->weight_zero_point != 0) {
            offset = -p->weight_zero_point * cortexm_sum_mve(in, p->in_features);
        }
        do {
            int32x4_t sum = cortexm_dot_4x1_mve(in, &w, depth);

            sum = vaddq_n_s32(vaddq_s32(sum, vldrwq_s32(b)), offset);
            sum = vqrdmulhq_n_s32(vshlq_s32(sum, left_shift), p->multiplier);
            if (right_shift < 0) {
                sum = cortexm_rounding_shift_mve(sum, vdupq_n_s32(right_shift));
            }
            sum = cortexm_finish(sum, finish);
            cortexm_store_mve(out, sum, left);
            out += cortexm_min(left, 4);
            b += 4;
            left -= 4;
        } while (left > 0);
        in += p->in_features;
    }
}
