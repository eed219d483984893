/* SPDX-License-Identifier: Apache-2.0 */
/* bilinear, int8, portable C. */
#include "common/box.h"
#include "cortexm/kernels.h"

/* value / 2^22, ties to even. */
static int32_t round_q22(int32_t value)
{
    const int32_t floor = value >> 22;
    const int32_t rest = value & ((1 << 22) - 1);

    return floor + (rest > (1 << 21) || (rest == (1 << 21) && (floor & 1) != 0));
}

void cortexm_bilinear_s8_scalar(const cortexm_bilinear_s8_t *params, const int8_t *in, int8_t *out)
{
    const cortexm_bilinear_s8_t *const p = params;

    for (int32_t plane = 0; plane < p->planes; ++plane) {
        for (int32_t y = 0; y < p->out_h; ++y) {
            const int8_t *const above = in + p->row_low[y];
            const int8_t *const below = in + p->row_high[y];
            const int32_t down = p->row_weight[y];
            const int32_t up = 2048 - down;

            for (int32_t x = 0; x < p->out_w; ++x) {
                const int32_t right = p->col_weight[x];
                const int32_t left = 2048 - right;

                for (int32_t c = 0; c < p->inner; ++c) {
                    const int32_t low = p->col_low[x] + c;
                    const int32_t high = p->col_high[x] + c;
                    const int32_t top = above[low] * left + above[high] * right;
                    const int32_t bottom = below[low] * left + below[high] * right;
                    /* The weights add up to 2^22: the zero point comes off once. */
                    const int32_t sum = top * up + bottom * down - p->zero_point * (1 << 22);

                    *out++ = (int8_t)(round_q22(sum) + p->zero_point);
                }
            }
        }
        in += p->plane_stride;
    }
}
