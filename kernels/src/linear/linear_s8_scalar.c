/* SPDX-License-Identifier: Apache-2.0 */
/* linear, int8, portable C. See README.md for the formula. Eight outputs at a time: common/quads.h. Up to
 * three that are left are plain dot products. */
#include "common/codes.h"
#include "common/dot.h"
#include "common/quads.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* sum[0 … 3] = start + bias[0 … 3] */
static void start_sums(const int32_t *bias, int32_t start, int32_t *sum)
{
    sum[0] = start + bias[0];
    sum[1] = start + bias[1];
    sum[2] = start + bias[2];
    sum[3] = start + bias[3];
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
        int32_t start = 0; /* what is too much in all sums of whole blocks, negated */
        int32_t rest = 0;  /* and in those of outputs that are left */
        int32_t o = 0;

        for (int32_t k = 0, chunk = 0; k < depth; k += CORTEXM_QUAD_CHUNK) {
            const int32_t sum = cortexm_sum_s8(in + k, cortexm_min(CORTEXM_QUAD_CHUNK, depth - k));

            x_sum[chunk++] = sum;
            rest -= (p->weight_zero_point + 128) * sum;
            start -= CORTEXM_QUAD_OFFSET + p->weight_zero_point * sum;
        }
        while (p->out_features - o >= 4) {
            /* A single block is computed twice. */
            const int32_t second = p->out_features - o >= 8 ? 4 : 0;
            int8_t *const place[2] = {out + o, out + o + 4};
            int32_t sum[8];

            start_sums(bias + o, start, sum);
            start_sums(bias + o + second, start, sum + 4);
            for (int32_t k = 0, chunk = 0; k < depth; k += CORTEXM_QUAD_CHUNK) {
                cortexm_quads(in + k, w + 4 * k, cortexm_min(CORTEXM_QUAD_CHUNK, depth - k),
                              x_sum[chunk++], second * depth, sum);
            }
            cortexm_put_codes(&codes, 0, 4, sum, 1 + second / 4, place);
            w += (4 + second) * depth;
            o += 4 + second;
        }
        for (; o < p->out_features; ++o) {
            int32_t sum = rest + bias[o] + cortexm_quads_rest(in, w, depth);
            int8_t *const place = out + o;

            cortexm_put_codes(&codes, 0, 1, &sum, 1, &place);
            w += depth;
        }
        out += p->out_features;
        in += depth;
    }
}
