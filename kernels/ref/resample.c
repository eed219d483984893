/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ref.h"

/* Weights are multiples of 2^-11, so that float64 is exact; nearbyint rounds ties to even, round away from 0. */
#define BILINEAR(types, type)                                                                      \
    void cortexm_bilinear_##types##_ref(const cortexm_bilinear_codes_t *p, const type *in, type *out)\
    {                                                                                              \
        for (int i = 0; i < p->planes * p->out_h * p->out_w * p->inner; ++i) {                     \
            const int x = i / p->inner % p->out_w;                                                 \
            const int y = i / p->inner / p->out_w % p->out_h;                                      \
            const int plane = i / p->inner / p->out_w / p->out_h;                                  \
            const type *from = in + plane * p->plane_stride + i % p->inner;                        \
            const double w = p->col_weight[x] / 2048.0;                                            \
            const double h = p->row_weight[y] / 2048.0;                                            \
            const double sum =                                                                     \
                (from[p->row_low[y] + p->col_low[x]] - p->zero_point) * (1 - h) * (1 - w) +        \
                (from[p->row_low[y] + p->col_high[x]] - p->zero_point) * (1 - h) * w +             \
                (from[p->row_high[y] + p->col_low[x]] - p->zero_point) * h * (1 - w) +             \
                (from[p->row_high[y] + p->col_high[x]] - p->zero_point) * h * w;                   \
                                                                                                   \
            out[i] = (type)((int)(p->away ? round(sum) : nearbyint(sum)) + p->zero_point);         \
        }                                                                                          \
    }

BILINEAR(s8, int8_t)
BILINEAR(s16, int16_t)

void cortexm_bilinear_f32_ref(const cortexm_bilinear_f32_t *p, const float *in, float *out)
{
    for (int i = 0; i < p->planes * p->out_h * p->out_w * p->inner; ++i) {
        const int x = i / p->inner % p->out_w;
        const int y = i / p->inner / p->out_w % p->out_h;
        const int plane = i / p->inner / p->out_w / p->out_h;
        const float *from = in + plane * p->plane_stride + i % p->inner;
        const float *above = from + p->row_low[y];
        const float *below = from + p->row_high[y];
        const float w = p->col_weight[x];
        const float h = p->row_weight[y];
        const float top = above[p->col_low[x]] * (1.0f - w) + above[p->col_high[x]] * w;
        const float bottom = below[p->col_low[x]] * (1.0f - w) + below[p->col_high[x]] * w;

        out[i] = top * (1.0f - h) + bottom * h;
    }
}
