/* SPDX-License-Identifier: Apache-2.0 */
/* linear, int8, MVE: four outputs at a time, at last single ones (gemm_mve.h). See kernels/README.md
 * for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "linear_s8_mve.c needs MVE"
#endif

#include "common/gemm_mve.h"
#include "common/mve.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

typedef struct {
    int32_t left, right, multiplier; /* shifts by 0 and more, and by 0 and less */
    cortexm_finish_t finish;
} scale_t;

static inline int32x4_t codes(int32x4_t sum, const scale_t *s)
{
    sum = vqrdmulhq_n_s32(vshlq_r_s32(sum, s->left), s->multiplier);
    /* Lowered only if there is a shift to the right. */
    sum = vaddq_s32(sum, vshrq_n_s32(vandq_s32(sum, vdupq_n_s32(s->right)), 31));
    return cortexm_finish(vrshlq_n_s32(sum, s->right), s->finish);
}

void cortexm_linear_s8_mve(const cortexm_linear_s8_t *params, const int8_t *in,
                           const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const scale_t scale = {cortexm_max(p->shift, 0), cortexm_min(p->shift, 0), p->multiplier,
                           cortexm_finish_of(p->out_zero_point, p->act_min, p->act_max)};
    const cortexm_depth_t depth = cortexm_depth_of(p->in_features);

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
        for (; left >= 4; left -= 4) {
            int32x4_t sum = vaddq_s32(cortexm_dot_4x1_mve(in, &w, depth), vldrwq_s32(b));

            vstrbq_s32(out, codes(vaddq_n_s32(sum, offset), &scale));
            out += 4;
            b += 4;
        }
        for (; left > 0; --left) {
            const int32_t dot = cortexm_dot_mve(in, w, p->in_features);

            *out++ = (int8_t)vgetq_lane_s32(codes(vdupq_n_s32(dot + *b++ + offset), &scale), 0);
            w += p->in_features;
        }
        in += p->in_features;
    }
}
