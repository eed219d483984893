/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d of floats, portable C, for any memory layout. Four outputs of a pixel are computed together,
 * or, where a group has fewer, four pixels of a row. */
#include "common/accumulate.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/* A window: where its first tap inside the image and that tap's weight are, and its terms, the input's
 * walk being the shared one unless four pixels share the weights. */
typedef struct {
    int32_t in, weight; /* from where the first tap would be, and from the first weight */
    cortexm_terms_t terms;
} window_t;

static window_t window(const cortexm_conv_f32_t *p, cortexm_taps_t rows, cortexm_taps_t columns)
{
    const int32_t channels = p->in_c / p->groups;
    const int32_t taps = p->kernel_h * p->kernel_w;
    const int32_t column_step = p->in_strides[3] * p->dilation_w;
    const int32_t row_step = p->in_strides[2] * p->dilation_h;
    const int32_t high = cortexm_taps_count(rows);
    const int32_t wide = cortexm_taps_count(columns);
    window_t w;

    w.in = rows.begin * row_step + columns.begin * column_step;
    w.weight = rows.begin * p->kernel_w + columns.begin;
    w.terms = (cortexm_terms_t){
        {column_step, row_step - wide * column_step, p->in_strides[1] - high * row_step},
        {1, p->kernel_w - wide, taps - high * p->kernel_w},
        channels * taps,
        channels,
        high,
        wide};
    if (high == 1 && wide == 1) {
        /* One tap of every channel: a single row of terms. */
        w.terms.shared.step = p->in_strides[1];
        w.terms.own.step = taps;
        w.terms.planes = 1;
        w.terms.columns = channels;
    }
    return w;
}

/* One output. */
static float one(const window_t *w, const float *in, const float *weight, float sum)
{
    in += w->in;
    weight += w->weight;
    for (int32_t plane = w->terms.planes; plane > 0; --plane) {
        for (int32_t row = w->terms.rows; row > 0; --row) {
            for (int32_t column = w->terms.columns; column > 0; --column) {
                sum += *in * *weight;
                in += w->terms.shared.step;
                weight += w->terms.own.step;
            }
            in += w->terms.shared.row_gap;
            weight += w->terms.own.row_gap;
        }
        in += w->terms.shared.plane_gap;
        weight += w->terms.own.plane_gap;
    }
    return sum;
}

/* `count` outputs of a group at one pixel. */
static void outputs(const cortexm_conv_f32_t *p, const window_t *w, const float *in,
                    const float *weight, const float *bias, int32_t weights, int32_t count,
                    float *out)
{
    const int32_t step = p->out_strides[1];

    for (; count >= 4; count -= 4) {
        float sum[4];

        for (int32_t i = 0; i < 4; ++i) {
            sum[i] = *bias;
            bias += p->bias_stride;
        }
        cortexm_accumulate4(sum, &w->terms, in + w->in, weight + w->weight);
        for (int32_t i = 0; i < 4; ++i) {
            *out = sum[i];
            out += step;
        }
        weight += 4 * weights;
    }
    for (; count > 0; --count) {
        *out = one(w, in, weight, *bias);
        out += step;
        weight += weights;
        bias += p->bias_stride;
    }
}

/* One output at four neighbouring pixels whose windows have the same taps inside the image. */
static void pixels(const cortexm_conv_f32_t *p, const window_t *w, const cortexm_terms_t *terms,
                   const float *in, const float *weight, float bias, float *out)
{
    float sum[4] = {bias, bias, bias, bias};

    cortexm_accumulate4(sum, terms, weight + w->weight, in + w->in);
    for (int32_t i = 0; i < 4; ++i) {
        out[i * p->out_strides[3]] = sum[i];
    }
}

CORTEXM_CONV_F32(cortexm_conv2d_f32_scalar)
{
    const cortexm_conv_f32_t *const p = params;
    const int32_t group_in = p->in_c / p->groups;
    const int32_t group_out = p->out_c / p->groups;
    const int32_t weights = group_in * p->kernel_h * p->kernel_w;
    const int32_t last_x = p->in_w - 1 - (p->kernel_w - 1) * p->dilation_w;

    CORTEXM_ASSERT(p->groups >= 1 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t y = 0; y < p->out_h; ++y) {
            const int32_t y0 = y * p->stride_h - p->pad_top;
            const cortexm_taps_t rows =
                cortexm_taps_inside(y0, p->dilation_h, p->kernel_h, p->in_h);
            int32_t x = 0;

            while (x < p->out_w) {
                const int32_t x0 = x * p->stride_w - p->pad_left;
                const window_t w =
                    window(p, rows, cortexm_taps_inside(x0, p->dilation_w, p->kernel_w, p->in_w));
                const int32_t are_four = group_out < 4 && x + 4 <= p->out_w && x0 >= 0 &&
                                         x0 + 3 * p->stride_w <= last_x;
                const float *from = in + n * p->in_strides[0] + y0 * p->in_strides[2] +
                                    x0 * p->in_strides[3];
                float *to = out + n * p->out_strides[0] + y * p->out_strides[2] +
                            x * p->out_strides[3];
                const float *of_group = weight;
                cortexm_terms_t swapped = w.terms;
                const float *b = bias;

                swapped.shared = w.terms.own;
                swapped.own = w.terms.shared;
                swapped.apart = p->stride_w * p->in_strides[3];
                for (int32_t g = 0; g < p->groups; ++g) {
                    if (are_four) {
                        for (int32_t o = 0; o < group_out; ++o) {
                            pixels(p, &w, &swapped, from, of_group + o * weights, b[o * p->bias_stride],
                                   to + o * p->out_strides[1]);
                        }
                    } else {
                        outputs(p, &w, from, of_group, b, weights, group_out, to);
                    }
                    from += group_in * p->in_strides[1];
                    of_group += group_out * weights;
                    b += group_out * p->bias_stride;
                    to += group_out * p->out_strides[1];
                }
                x += are_four ? 4 : 1;
            }
        }
    }
}
