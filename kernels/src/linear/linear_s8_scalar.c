/* SPDX-License-Identifier: Apache-2.0 */
/* linear, int8, portable C. See README.md for the formula. */
#include "common/codes.h"
#include "common/fours.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

static void finish(const cortexm_linear_s8_t *p, const int32_t *bias, const int32_t *sum,
                   int32_t count, int8_t *out)
{
    const int32_t is_simple = p->shift <= -2 && p->act_min == INT8_MIN && p->act_max == INT8_MAX;

    for (int32_t i = 0; i < count; ++i) {
        const int32_t value = bias[i] + sum[i];

        if (is_simple) {
            out[i] = (int8_t)cortexm_simple_code(value, p->multiplier, p->shift,
                                                 2 * p->out_zero_point + 1);
        } else {
            out[i] = (int8_t)cortexm_add_zero_point(
                cortexm_requantize(value, p->multiplier, p->shift), p->out_zero_point, p->act_min,
                p->act_max);
        }
    }
}

void cortexm_linear_s8_scalar(const cortexm_linear_s8_t *params, const int8_t *in,
                              const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const int32_t depth = p->in_features;

    (void)scratch;
    CORTEXM_ASSERT(p->act_min <= p->act_max);

    for (int32_t row = 0; row < p->rows; ++row) {
        const uint8_t *w = (const uint8_t *)weight;
        const int32_t start = cortexm_fours_start(in, depth);
        /* start is -128 times the sum of the row, so this is what the zero point adds. */
        const int32_t with_offset = start + start / 128 * p->weight_zero_point;

        int32_t o = 0;

        for (; o + 8 <= p->out_features; o += 8) {
            int32_t sum[8];

            cortexm_fours_eight(in, w, depth, with_offset, sum);
            finish(p, bias + o, sum, 8, out + o);
            w += 8 * depth;
        }
        for (; o < p->out_features; o += 4) {
            int32_t sum[4];

            cortexm_fours(in, w, depth, with_offset, sum);
            finish(p, bias + o, sum, cortexm_min(4, p->out_features - o), out + o);
            w += 4 * depth;
        }
        out += p->out_features;
        in += depth;
    }
}
