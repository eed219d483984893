/* SPDX-License-Identifier: Apache-2.0 */
/* bilinear, float32, portable C. */
#include "common/box.h"
#include "cortexm/kernels.h"

void cortexm_bilinear_f32_scalar(const cortexm_bilinear_f32_t *params, const float *in, float *out)
{
    const cortexm_bilinear_f32_t *const p = params;

    for (int32_t plane = 0; plane < p->planes; ++plane) {
        for (int32_t y = 0; y < p->out_h; ++y) {
            const float *const above = in + p->row_low[y];
            const float *const below = in + p->row_high[y];
            const float down = p->row_weight[y];
            const float up = 1.0f - down;

            for (int32_t x = 0; x < p->out_w; ++x) {
                const float right = p->col_weight[x];
                const float left = 1.0f - right;

                for (int32_t c = 0; c < p->inner; ++c) {
                    const int32_t low = p->col_low[x] + c;
                    const int32_t high = p->col_high[x] + c;
                    const float top = above[low] * left + above[high] * right;
                    const float bottom = below[low] * left + below[high] * right;

                    *out++ = top * up + bottom * down;
                }
            }
        }
        in += p->plane_stride;
    }
}
