/* SPDX-License-Identifier: Apache-2.0 */
#include "arithmetic.h"
#include "ref.h"

void cortexm_linear_s8_ref(const cortexm_linear_s8_t *p, const int8_t *in, const int8_t *weight,
                           const int32_t *bias, int8_t *out, void *scratch)
{
    (void)scratch;
    for (int r = 0; r < p->rows; ++r)
    for (int o = 0; o < p->out_features; ++o) {
        int64_t acc = bias[o];

        for (int k = 0; k < p->in_features; ++k) {
            acc += in[r * p->in_features + k] *
                   (weight[o * p->in_features + k] - p->weight_zero_point);
        }
        out[r * p->out_features + o] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier, p->shift) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}
