/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

void cortexm_bilinear_f32_ref(const cortexm_bilinear_f32_t *p, const float *in, float *out)
{
    for (int i = 0; i < p->planes * p->out_h * p->out_w * p->inner; ++i) {
        const int x = i / p->inner % p->out_w;
        const int y = i / p->inner / p->out_w % p->out_h;
        const float *from = in + i / p->inner / p->out_w / p->out_h * p->plane_stride + i % p->inner;
        const float *above = from + p->row_low[y];
        const float *below = from + p->row_high[y];
        const float w = p->col_weight[x];
        const float h = p->row_weight[y];
        const float top = above[p->col_low[x]] * (1.0f - w) + above[p->col_high[x]] * w;
        const float bottom = below[p->col_low[x]] * (1.0f - w) + below[p->col_high[x]] * w;

        out[i] = top * (1.0f - h) + bottom * h;
    }
}
