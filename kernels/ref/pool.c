/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ref.h"

#define POOL(op, RESULT, types, type, smallest)                                                    \
    void cortexm_##op##_##types##_ref(const cortexm_pool_##types##_t *p, const type *in,           \
                                      type *out, void *scratch)                                    \
    {                                                                                              \
        (void)scratch;                                                                             \
        for (int oy = 0; oy < p->out_h; ++oy)                                                      \
        for (int ox = 0; ox < p->out_w; ++ox)                                                      \
        for (int c = 0; c < p->channels; ++c) {                                                    \
            int64_t sum = 0;                                                                       \
            int largest = smallest;                                                                \
            int count = 0;                                                                         \
                                                                                                   \
            for (int ky = 0; ky < p->kernel_h; ++ky)                                               \
            for (int kx = 0; kx < p->kernel_w; ++kx) {                                             \
                const int y = p->in_y0 + oy * p->stride_h + ky * p->dilation_h;                    \
                const int x = p->in_x0 + ox * p->stride_w + kx * p->dilation_w;                    \
                                                                                                   \
                if (y >= 0 && y < p->in_h && x >= 0 && x < p->in_w) {                              \
                    const int code =                                                               \
                        in[y * p->in_row_stride + x * p->channels + c];                            \
                                                                                                   \
                    sum += code;                                                                   \
                    largest = code > largest ? code : largest;                                     \
                    ++count;                                                                       \
                }                                                                                  \
            }                                                                                      \
            out[(oy * p->out_w + ox) * p->out_pixel_stride + c] =                                  \
                (type)RESULT(sum, largest, count);                                                 \
        }                                                                                          \
    }

#define AVERAGE(sum, largest, count) ((void)(largest), ref_round_div(sum, count))
#define LARGEST(sum, largest, count)                                                               \
    ((void)(sum), (void)(count), ref_clamp(largest, p->act_min, p->act_max))

POOL(avg_pool2d, AVERAGE, s8, int8_t, INT8_MIN)
POOL(avg_pool2d_c3, AVERAGE, s8, int8_t, INT8_MIN)
POOL(avg_pool2d_eights, AVERAGE, s8, int8_t, INT8_MIN)
POOL(avg_pool2d_rows, AVERAGE, s8, int8_t, INT8_MIN)
POOL(avg_pool2d_pixel, AVERAGE, s8, int8_t, INT8_MIN)
POOL(avg_pool2d, AVERAGE, s16, int16_t, INT16_MIN)
POOL(avg_pool2d_c3, AVERAGE, s16, int16_t, INT16_MIN)
POOL(max_pool2d, LARGEST, s8, int8_t, INT8_MIN)
POOL(max_pool2d_c15, LARGEST, s8, int8_t, INT8_MIN)
POOL(max_pool2d_rows, LARGEST, s8, int8_t, INT8_MIN)
POOL(max_pool2d, LARGEST, s16, int16_t, INT16_MIN)
POOL(max_pool2d_c15, LARGEST, s16, int16_t, INT16_MIN)

static int inside(int position, int extent, int padding)
{
    return position >= -padding && position < extent + padding;
}

#define POOL_F32(op, AVERAGE)                                                                      \
    CORTEXM_POOL_F32(cortexm_##op##_f32_ref)                                                       \
    {                                                                                              \
        const cortexm_pool_f32_t *p = params;                                                      \
                                                                                                   \
        for (int i = 0; i < p->batches * p->channels * p->out_h * p->out_w; ++i) {                 \
            const int x = i % p->out_w;                                                            \
            const int y = i / p->out_w % p->out_h;                                                 \
            const int c = i / p->out_w / p->out_h % p->channels;                                   \
            const int n = i / p->out_w / p->out_h / p->channels;                                   \
            float result = AVERAGE ? 0.0f : -INFINITY;                                             \
            int count = 0;                                                                         \
                                                                                                   \
            for (int k = 0; k < p->kernel_h * p->kernel_w; ++k) {                                  \
                const int from_y =                                                                 \
                    y * p->stride_h - p->pad_top + k / p->kernel_w * p->dilation_h;                \
                const int from_x =                                                                 \
                    x * p->stride_w - p->pad_left + k % p->kernel_w * p->dilation_w;               \
                                                                                                   \
                count += inside(from_y, p->in_h, p->count_pad_h) &&                                \
                         inside(from_x, p->in_w, p->count_pad_w);                                  \
                if (inside(from_y, p->in_h, 0) && inside(from_x, p->in_w, 0)) {                    \
                    const float value = in[n * p->in_strides[0] + c * p->in_strides[1] +           \
                                           from_y * p->in_strides[2] + from_x * p->in_strides[3]]; \
                                                                                                   \
                    result = AVERAGE || isnan(result) || isnan(value) ? result + value             \
                                                                      : fmaxf(result, value);      \
                }                                                                                  \
            }                                                                                      \
            if (AVERAGE) {                                                                         \
                result /= (float)(p->divisor != 0 ? p->divisor : count);                           \
            }                                                                                      \
            out[n * p->out_strides[0] + c * p->out_strides[1] + y * p->out_strides[2] +            \
                x * p->out_strides[3]] = result;                                                   \
        }                                                                                          \
    }

POOL_F32(avg_pool2d, 1)
POOL_F32(max_pool2d, 0)
