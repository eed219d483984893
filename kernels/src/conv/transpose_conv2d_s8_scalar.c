/* SPDX-License-Identifier: Apache-2.0 */
/* transpose_conv2d, int8, portable C: each output pixel gathers the inputs that reach it. */
#include "common/dot.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/*
 * Along one axis, tap t of input i reaches output position first + i * stride + t * dilation. For an
 * output at distance d from `first` that is d - t * dilation = i * stride: kept as quotient and
 * remainder by stride, d and dilation need no division in the loops.
 */
typedef struct {
    int32_t quotient, remainder;
} split_t;

typedef struct {
    int32_t stride, kernel, extent;
    split_t dilation;
    int32_t tap_step;   /* taps from one that meets an input to the next … */
    int32_t input_step; /* … which meets the input so many before */
} axis_t;

static split_t split(int32_t value, int32_t stride)
{
    split_t s = {value / stride, value % stride};

    if (s.remainder < 0) {
        s.remainder += stride;
        --s.quotient;
    }
    return s;
}

static axis_t axis_of(int32_t stride, int32_t dilation, int32_t kernel, int32_t extent)
{
    axis_t axis = {stride, kernel, extent, split(dilation, stride), 1, 0};

    while (axis.tap_step * dilation % stride != 0) {
        ++axis.tap_step;
    }
    axis.input_step = axis.tap_step * dilation / stride;
    return axis;
}

static void advance(const axis_t *axis, split_t *distance)
{
    if (++distance->remainder == axis->stride) {
        distance->remainder = 0;
        ++distance->quotient;
    }
}

/* The first tap that meets an input inside [0, extent), and that input; `kernel` if none does. */
typedef struct {
    int32_t tap, input;
} meeting_t;

static meeting_t first_meeting(const axis_t *axis, split_t distance)
{
    meeting_t m = {0, 0};

    for (; m.tap < axis->kernel && distance.quotient >= 0; ++m.tap) {
        if (distance.remainder == 0 && distance.quotient < axis->extent) {
            m.input = distance.quotient;
            return m;
        }
        distance.quotient -= axis->dilation.quotient;
        distance.remainder -= axis->dilation.remainder;
        if (distance.remainder < 0) {
            distance.remainder += axis->stride;
            --distance.quotient;
        }
    }
    m.tap = axis->kernel;
    return m;
}

/* sum of (in - zero_point) * weight */
static int32_t dot_offset(const int8_t *in, int32_t zero_point, const int8_t *weight, int32_t n)
{
    const int8_t *const end = in + n;
    int32_t sum = 0;

    while (in != end) {
        sum += (*in++ - zero_point) * *weight++;
    }
    return sum;
}

void cortexm_transpose_conv2d_s8_scalar(const cortexm_conv_s8_t *params, const int8_t *in,
                                        const int8_t *weight, const int32_t *bias, int8_t *out,
                                        void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t channels = p->in_c;
    const int32_t filter = p->kernel_h * p->kernel_w * channels;
    const int32_t zero_point = p->in_zero_point;
    const axis_t y_axis = axis_of(p->stride_h, p->dilation_h, p->kernel_h, p->in_h);
    const axis_t x_axis = axis_of(p->stride_w, p->dilation_w, p->kernel_w, p->in_w);
    const split_t first_y = split(-p->in_y0, p->stride_h);
    const split_t first_x = split(-p->in_x0, p->stride_w);
    const int8_t *w = weight;

    (void)scratch;
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);

    for (int32_t o = 0; o < p->out_c; ++o) {
        /* Most taps meet no input. With the zero point taken out of the bias again they
         * contribute nothing to a sum of (in - zero_point) * weight. */
        const int32_t start = bias[o] + zero_point * cortexm_sum_s8(w, filter);
        split_t y = first_y;
        int8_t *out_pixel = out + o;

        for (int32_t oy = 0; oy < p->out_h; ++oy) {
            const meeting_t row = first_meeting(&y_axis, y);
            split_t x = first_x;

            for (int32_t ox = 0; ox < p->out_w; ++ox) {
                const meeting_t col = first_meeting(&x_axis, x);
                int32_t acc = start;
                int32_t iy = row.input;

                for (int32_t ky = row.tap; ky < p->kernel_h && iy >= 0; ky += y_axis.tap_step) {
                    const int8_t *const in_row = in + iy * p->in_row_stride;
                    const int8_t *const w_row = w + ky * p->kernel_w * channels;
                    int32_t ix = col.input;

                    for (int32_t kx = col.tap; kx < p->kernel_w && ix >= 0;
                         kx += x_axis.tap_step) {
                        acc += dot_offset(in_row + ix * channels, zero_point,
                                          w_row + kx * channels, channels);
                        ix -= x_axis.input_step;
                    }
                    iy -= y_axis.input_step;
                }
                acc = cortexm_requantize(acc, p->multiplier[o], p->shift[o]);
                *out_pixel = (int8_t)cortexm_add_zero_point(acc, p->out_zero_point, p->act_min,
                                                            p->act_max);
                out_pixel += p->out_pixel_stride;
                advance(&x_axis, &x);
            }
            advance(&y_axis, &y);
        }
        w += filter;
    }
}
