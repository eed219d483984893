/* SPDX-License-Identifier: Apache-2.0 */
/* transpose_conv2d, int8, portable C: each output pixel gathers the inputs that reach it, for four
 * channels at a time. */
#include "common/apart.h"
#include "common/names.h"
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

#define BLOCK 4

/* What all pixels share. Most taps meet no input: they contribute nothing to a sum of
 * (in - zero_point) * weight, and the biases, packed as "plain_bias", are without the zero point. */
typedef struct {
    const cortexm_conv_s8_t *p;
    const int8_t *in;
    const int8_t *weight;
    const int32_t *bias;
    int32_t filter; /* weights of a channel */
    axis_t y_axis, x_axis;
} layer_t;

/* sum[0] += products of in - zero_point and the weights of one channel. */
static void add_one(const int8_t *in, int32_t zero_point, const int8_t *weight, int32_t n,
                    int32_t *sum)
{
    const int8_t *const end = in + n;
    int32_t total = *sum;

    while (in != end) {
        total += (*in++ - zero_point) * *weight++;
    }
    *sum = total;
}

/* The same for four channels, whose weights are `filter` apart. */
static void add_four(const int8_t *in, int32_t zero_point, const int8_t *weight, int32_t filter,
                     int32_t n, int32_t *sum)
{
    const int8_t *const end = in + n;
    const int8_t *w1 = weight + filter;
    const int8_t *w2 = w1 + filter;
    const int8_t *w3 = w2 + filter;
    int32_t sum0 = sum[0];
    int32_t sum1 = sum[1];
    int32_t sum2 = sum[2];
    int32_t sum3 = sum[3];

    while (in != end) {
        const int32_t value = *in++ - zero_point;

        sum0 += value * *weight++;
        sum1 += value * *w1++;
        sum2 += value * *w2++;
        sum3 += value * *w3++;
    }
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}

typedef struct {
    meeting_t y, x;
} pixel_t;

/* sum += products of the inputs that reach a pixel with `count` channels. */
static CORTEXM_APART void add_pixel(const layer_t *l, const pixel_t *at, const int8_t *weight,
                                    int32_t count, int32_t *sum)
{
    const cortexm_conv_s8_t *const p = l->p;
    const int32_t channels = p->in_c;
    const int32_t zero_point = p->in_zero_point;
    int32_t iy = at->y.input;

    for (int32_t ky = at->y.tap; ky < p->kernel_h && iy >= 0; ky += l->y_axis.tap_step) {
        const int8_t *const in_row = l->in + iy * p->in_row_stride;
        const int8_t *const w_row = weight + ky * p->kernel_w * channels;
        int32_t ix = at->x.input;

        for (int32_t kx = at->x.tap; kx < p->kernel_w && ix >= 0; kx += l->x_axis.tap_step) {
            const int8_t *const pixel = in_row + ix * channels;
            const int8_t *const w = w_row + kx * channels;

            if (count == BLOCK) {
                add_four(pixel, zero_point, w, l->filter, channels, sum);
            } else {
                for (int32_t c = 0; c < count; ++c) {
                    add_one(pixel, zero_point, w + c * l->filter, channels, sum + c);
                }
            }
            ix -= l->x_axis.input_step;
        }
        iy -= l->y_axis.input_step;
    }
}

/* All channels of a pixel. */
static void put_pixel(const layer_t *l, const pixel_t *at, int8_t *out)
{
    const cortexm_conv_s8_t *const p = l->p;
    const int32_t *multiplier = p->multiplier;
    const int8_t *shift = p->shift;
    const int32_t *bias = l->bias;
    const int8_t *weight = l->weight;

    for (int32_t left = p->out_c; left > 0; left -= BLOCK) {
        const int32_t count = cortexm_min(left, BLOCK);
        int32_t sum[BLOCK] = {0};

        for (int32_t c = 0; c < count; ++c) {
            sum[c] = *bias++;
        }
        add_pixel(l, at, weight, count, sum);
        for (int32_t c = 0; c < count; ++c) {
            const int32_t value = cortexm_requantize(sum[c], *multiplier++, *shift++);

            *out++ = (int8_t)cortexm_add_zero_point(value, p->out_zero_point, p->act_min,
                                                    p->act_max);
        }
        weight += BLOCK * l->filter;
    }
}

void cortexm_transpose_conv2d_s8_scalar(const cortexm_conv_s8_t *params, const int8_t *in,
                                        const int8_t *weight, const int32_t *bias, int8_t *out,
                                        void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const layer_t l = {
        p,
        in,
        weight,
        bias,
        p->kernel_h * p->kernel_w * p->in_c,
        axis_of(p->stride_h, p->dilation_h, p->kernel_h, p->in_h),
        axis_of(p->stride_w, p->dilation_w, p->kernel_w, p->in_w),
    };
    const split_t first_x = split(-p->in_x0, p->stride_w);
    split_t y = split(-p->in_y0, p->stride_h);

    (void)scratch;
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);

    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        pixel_t at = {.y = first_meeting(&l.y_axis, y)};
        split_t x = first_x;

        for (int32_t ox = 0; ox < p->out_w; ++ox) {
            at.x = first_meeting(&l.x_axis, x);
            put_pixel(&l, &at, out);
            out += p->out_pixel_stride;
            advance(&l.x_axis, &x);
        }
        advance(&l.y_axis, &y);
    }
}
