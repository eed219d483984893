/* SPDX-License-Identifier: Apache-2.0 */
/* linear, int8, portable C. See README.md for the formula. */
#include "common/dot.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

static int8_t finish(const cortexm_linear_s8_t *p, int32_t acc)
{
    const int32_t value = cortexm_requantize(acc, p->multiplier, p->shift);

    return (int8_t)cortexm_add_zero_point(value, p->out_zero_point, p->act_min, p->act_max);
}

void cortexm_linear_s8_scalar(const cortexm_linear_s8_t *params, const int8_t *in,
                              const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const int32_t depth = p->in_features;

    (void)scratch;
    CORTEXM_ASSERT(p->act_min <= p->act_max);

    for (int32_t row = 0; row < p->rows; ++row) {
        const int8_t *w = weight;
        int32_t offset = 0; /* what the weights' zero point adds to every sum of this row */
        int32_t o = 0;

        if (p->weight_zero_point != 0) {
            offset = -p->weight_zero_point * cortexm_sum_s8(in, depth);
        }
        for (; p->out_features - o >= 4; o += 4) {
            int32_t acc[4] = {0, 0, 0, 0};

            cortexm_dot4_s8(in, w, depth, depth, acc);
            for (int32_t k = 0; k < 4; ++k) {
                *out++ = finish(p, bias[o + k] + offset + acc[k]);
            }
            w += 4 * depth;
        }
        for (; o < p->out_features; ++o) {
            *out++ = finish(p, bias[o] + offset + cortexm_dot_s8(in, w, depth));
            w += depth;
        }
        in += depth;
    }
}
