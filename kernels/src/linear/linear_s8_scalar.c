/* SPDX-License-Identifier: Apache-2.0 */
/* linear, int8, portable C. See README.md for the formula. Eight outputs at a time: common/quads.h. */
#include "common/codes.h"
#include "common/dot.h"
#include "common/quads.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* sum[0 … 3] = start + bias[0 … 3], or 0 where there is no such output. */
static void start_sums(const int32_t *bias, int32_t start, int32_t count, int32_t *sum)
{
    if (count >= 4) {
        sum[0] = start + bias[0];
        sum[1] = start + bias[1];
        sum[2] = start + bias[2];
        sum[3] = start + bias[3];
        return;
    }
    for (int32_t i = 0; i < 4; ++i) {
        sum[i] = i < count ? start + bias[i] : 0;
    }
}

void cortexm_linear_s8_scalar(const cortexm_linear_s8_t *params, const int8_t *in,
                              const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const int32_t depth = p->in_features;
    const int32_t multiplier[4] = {p->multiplier, p->multiplier, p->multiplier, p->multiplier};
    const int8_t shift[4] = {p->shift, p->shift, p->shift, p->shift};
    const cortexm_codes_t codes =
        cortexm_codes(multiplier, shift, 4, p->out_zero_point, p->act_min, p->act_max);
    int32_t *const x_sum = scratch; /* the sum of every chunk of a row */

    CORTEXM_ASSERT(p->act_min <= p->act_max);

    for (int32_t row = 0; row < p->rows; ++row) {
        const uint8_t *w = (const uint8_t *)weight;
        int32_t start = 0; /* what is too much in all sums, negated */

        for (int32_t k = 0, chunk = 0; k < depth; k += CORTEXM_QUAD_CHUNK) {
            const int32_t sum = cortexm_sum_s8(in + k, cortexm_min(CORTEXM_QUAD_CHUNK, depth - k));

            x_sum[chunk++] = sum;
            start -= CORTEXM_QUAD_OFFSET + p->weight_zero_point * sum;
        }

        for (int32_t o = 0; o < p->out_features; o += 8) {
            const int32_t count = cortexm_min(8, p->out_features - o);
            /* A single block is computed twice. */
            const int32_t second = count > 4 ? 4 * depth : 0;
            int8_t *const place[2] = {out + o, out + o + 4};
            int32_t sum[8];

            start_sums(bias + o, start, count, sum);
            start_sums(bias + o + 4, start, count - 4, sum + 4);
            for (int32_t k = 0, chunk = 0; k < depth; k += CORTEXM_QUAD_CHUNK) {
                cortexm_quads(in + k, w + 4 * k, cortexm_min(CORTEXM_QUAD_CHUNK, depth - k),
                              x_sum[chunk++], second, sum);
            }
            if (count == 8) {
                cortexm_put_codes(&codes, 0, 4, sum, 2, place);
            } else {
                cortexm_put_codes(&codes, 0, cortexm_min(4, count), sum, 1, place);
                cortexm_put_codes(&codes, 0, count - 4, sum + 4, 1, place + 1);
            }
            w += 8 * depth;
        }
        out += p->out_features;
        in += depth;
    }
}
