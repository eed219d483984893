/* SPDX-License-Identifier: Apache-2.0 */
#include "unpacked.h"

#include <stddef.h>

#include "cortexm/requantize.h"
#include "dot.h"

/* Part [first, last) of the taps of a window that begins at `start` and lies in an image of `extent`. */
typedef struct {
    int32_t first, last;
} range_t;

static range_t inside(int32_t start, int32_t dilation, int32_t kernel, int32_t extent)
{
    range_t taps = {0, kernel};

    while (taps.first < kernel && start + taps.first * dilation < 0) {
        ++taps.first;
    }
    while (taps.last > taps.first && start + (taps.last - 1) * dilation >= extent) {
        --taps.last;
    }
    return taps;
}

/* sum of (in + offset) * weight over n elements that lie `step` apart */
static int32_t dot(const int8_t *in, int32_t step, int32_t offset, const int8_t *weight, int32_t n)
{
    int32_t sum = 0;

    if (step == 1) {
        return cortexm_et_dot(in, offset, weight, 0, n);
    }
    for (int32_t i = 0; i < n; ++i) {
        sum += (in[i * step] + offset) * weight[i];
    }
    return sum;
}

static int8_t finish(const cortexm_et_conv_t *c, int32_t o, int32_t sum)
{
    const cortexm_et_rescaling_t by = cortexm_et_rescaling(c->multiplier[o], c->shift[o]);
    const int32_t code = cortexm_requantize(sum, by.multiplier, by.shift);

    return (int8_t)cortexm_add_zero_point(code, c->out_offset, c->act_min, c->act_max);
}

/* One output pixel of a window operator: called with the window's first tap and the taps inside. */
typedef struct {
    const int8_t *in;  /* the tap (0, 0) of channel 0; it may lie outside of the image */
    int8_t *out;       /* channel 0 */
    range_t rows, cols;
} pixel_t;

typedef void (*pixel_function)(const void *context, const cortexm_et_windows_t *w,
                               const pixel_t *pixel);

static void each_pixel(const cortexm_et_windows_t *w, pixel_function function, const void *context)
{
    const cortexm_et_image_t *const in = &w->in;
    const cortexm_et_image_t *const out = &w->out;
    pixel_t p;

    for (int32_t n = 0; n < out->sizes[0]; ++n) {
        for (int32_t oy = 0; oy < out->sizes[1]; ++oy) {
            const int32_t y = oy * w->stride_h - w->pad_h;

            p.rows = inside(y, w->dilation_h, w->kernel_h, in->sizes[1]);
            for (int32_t ox = 0; ox < out->sizes[2]; ++ox) {
                const int32_t x = ox * w->stride_w - w->pad_w;

                p.cols = inside(x, w->dilation_w, w->kernel_w, in->sizes[2]);
                p.in = in->data + n * in->strides[0] + y * in->strides[1] + x * in->strides[2];
                p.out = out->data + n * out->strides[0] + oy * out->strides[1] +
                        ox * out->strides[2];
                function(context, w, &p);
            }
        }
    }
}

static void conv2d_pixel(const void *context, const cortexm_et_windows_t *w, const pixel_t *p)
{
    const cortexm_et_conv_t *const c = context;
    const int32_t depth = c->depth;
    const int32_t per_group = w->out.sizes[3] / (w->in.sizes[3] / depth);
    const int32_t row_step = w->dilation_h * w->in.strides[1];
    const int32_t col_step = w->dilation_w * w->in.strides[2];
    const int32_t step = w->in.strides[3];
    /* Taps of a row that lie one after another in memory are one sum. */
    const int32_t joined = step == 1 && col_step == depth ? p->cols.last - p->cols.first : 1;
    const int8_t *weight = c->weight;

    for (int32_t o = 0; o < w->out.sizes[3]; ++o) {
        const int8_t *const in = p->in + o / per_group * depth * step;
        int32_t sum = c->bias != NULL ? c->bias[o] : 0;

        for (int32_t ky = p->rows.first; ky < p->rows.last; ++ky) {
            for (int32_t kx = p->cols.first; kx < p->cols.last; kx += joined) {
                sum += dot(in + ky * row_step + kx * col_step, step, c->in_offset,
                           weight + (ky * w->kernel_w + kx) * depth, joined * depth);
            }
        }
        p->out[o * w->out.strides[3]] = finish(c, o, sum);
        weight += w->kernel_h * w->kernel_w * depth;
    }
}

void cortexm_et_conv2d(const cortexm_et_conv_t *conv)
{
    each_pixel(&conv->windows, conv2d_pixel, conv);
}

static void depthwise_pixel(const void *context, const cortexm_et_windows_t *w, const pixel_t *p)
{
    const cortexm_et_conv_t *const c = context;
    const int32_t out_c = w->out.sizes[3];
    const int32_t per_channel = out_c / w->in.sizes[3];
    const int32_t row_step = w->dilation_h * w->in.strides[1];
    const int32_t col_step = w->dilation_w * w->in.strides[2];
    const int8_t *in = p->in;
    int32_t of_channel = 0;

    for (int32_t o = 0; o < out_c; ++o) {
        int32_t sum = c->bias != NULL ? c->bias[o] : 0;

        for (int32_t ky = p->rows.first; ky < p->rows.last; ++ky) {
            const int8_t *const weight = c->weight + ky * w->kernel_w * out_c + o;

            for (int32_t kx = p->cols.first; kx < p->cols.last; ++kx) {
                sum += (in[ky * row_step + kx * col_step] + c->in_offset) * weight[kx * out_c];
            }
        }
        p->out[o * w->out.strides[3]] = finish(c, o, sum);
        if (++of_channel == per_channel) {
            of_channel = 0;
            in += w->in.strides[3];
        }
    }
}

void cortexm_et_depthwise_conv2d(const cortexm_et_conv_t *conv)
{
    each_pixel(&conv->windows, depthwise_pixel, conv);
}

/* The input position whose tap `tap` reaches output position `at`, or -1. */
static int32_t origin(int32_t at, int32_t tap, int32_t dilation, int32_t stride, int32_t extent)
{
    const int32_t distance = at - tap * dilation;

    return distance >= 0 && distance % stride == 0 && distance / stride < extent ? distance / stride
                                                                                 : -1;
}

void cortexm_et_transpose_conv2d(const cortexm_et_conv_t *conv)
{
    const cortexm_et_windows_t *const w = &conv->windows;
    const cortexm_et_image_t *const in = &w->in;
    const cortexm_et_image_t *const out = &w->out;
    const int32_t depth = in->sizes[3];

    for (int32_t n = 0; n < out->sizes[0]; ++n)
    for (int32_t oy = 0; oy < out->sizes[1]; ++oy)
    for (int32_t ox = 0; ox < out->sizes[2]; ++ox)
    for (int32_t o = 0; o < out->sizes[3]; ++o) {
        const int8_t *const weight = conv->weight + o * w->kernel_h * w->kernel_w * depth;
        int32_t sum = conv->bias != NULL ? conv->bias[o] : 0;

        for (int32_t ky = 0; ky < w->kernel_h; ++ky) {
            const int32_t y = origin(oy + w->pad_h, ky, w->dilation_h, w->stride_h, in->sizes[1]);

            for (int32_t kx = 0; y >= 0 && kx < w->kernel_w; ++kx) {
                const int32_t x =
                    origin(ox + w->pad_w, kx, w->dilation_w, w->stride_w, in->sizes[2]);

                if (x >= 0) {
                    sum += dot(in->data + n * in->strides[0] + y * in->strides[1] +
                                   x * in->strides[2],
                               in->strides[3], conv->in_offset,
                               weight + (ky * w->kernel_w + kx) * depth, depth);
                }
            }
        }
        out->data[n * out->strides[0] + oy * out->strides[1] + ox * out->strides[2] +
                  o * out->strides[3]] = finish(conv, o, sum);
    }
}

static void avg_pixel(const void *context, const cortexm_et_windows_t *w, const pixel_t *p)
{
    const int32_t count = (p->rows.last - p->rows.first) * (p->cols.last - p->cols.first);

    (void)context;
    for (int32_t c = 0; c < w->out.sizes[3]; ++c) {
        int32_t sum = 0;

        for (int32_t ky = p->rows.first; ky < p->rows.last; ++ky) {
            for (int32_t kx = p->cols.first; kx < p->cols.last; ++kx) {
                sum += p->in[ky * w->in.strides[1] + kx * w->in.strides[2] + c * w->in.strides[3]];
            }
        }
        p->out[c * w->out.strides[3]] =
            (int8_t)((sum >= 0 ? sum + count / 2 : sum - count / 2) / count);
    }
}

void cortexm_et_avg_pool2d(const cortexm_et_windows_t *windows)
{
    each_pixel(windows, avg_pixel, NULL);
}

static void max_pixel(const void *context, const cortexm_et_windows_t *w, const pixel_t *p)
{
    const range_t *const clamp = context;
    const int32_t row_step = w->dilation_h * w->in.strides[1];
    const int32_t col_step = w->dilation_w * w->in.strides[2];

    for (int32_t c = 0; c < w->out.sizes[3]; ++c) {
        int32_t best = INT8_MIN;

        for (int32_t ky = p->rows.first; ky < p->rows.last; ++ky) {
            for (int32_t kx = p->cols.first; kx < p->cols.last; ++kx) {
                best = cortexm_max(best, p->in[ky * row_step + kx * col_step + c * w->in.strides[3]]);
            }
        }
        p->out[c * w->out.strides[3]] = (int8_t)cortexm_clamp(best, clamp->first, clamp->last);
    }
}

void cortexm_et_max_pool2d(const cortexm_et_windows_t *windows, int32_t act_min, int32_t act_max)
{
    const range_t clamp = {act_min, act_max};

    each_pixel(windows, max_pixel, &clamp);
}

void cortexm_et_linear(const cortexm_et_linear_t *linear)
{
    const cortexm_et_linear_t *const l = linear;
    const int8_t *in = l->in;
    int8_t *out = l->out;

    for (int32_t r = 0; r < l->rows; ++r) {
        const int8_t *weight = l->weight;

        for (int32_t o = 0; o < l->out_features; ++o) {
            int32_t sum = l->base != NULL ? l->base[o] : 0;

            sum += cortexm_et_dot(in, l->in_offset, weight, l->weight_offset, l->in_features);
            sum = cortexm_requantize(sum, l->multiplier, l->shift);
            *out++ = (int8_t)cortexm_add_zero_point(sum, l->out_offset, l->act_min, l->act_max);
            weight += l->in_features;
        }
        in += l->in_features;
    }
}
