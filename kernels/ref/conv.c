/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

static int8_t input_at(const cortexm_conv_s8_t *p, const int8_t *in, int y, int x, int c)
{
    if (y < 0 || y >= p->in_h || x < 0 || x >= p->in_w) {
        return p->in_zero_point;
    }
    return in[y * p->in_row_stride + x * p->in_c + c];
}

void cortexm_conv2d_s8_ref(const cortexm_conv_s8_t *p, const int8_t *in, const int8_t *weight,
                           const int32_t *bias, int8_t *out, void *scratch)
{
    const int depth = p->in_c / p->groups;

    (void)scratch;
    for (int oy = 0; oy < p->out_h; ++oy)
    for (int ox = 0; ox < p->out_w; ++ox)
    for (int o = 0; o < p->out_c; ++o) {
        const int group = o / (p->out_c / p->groups);
        int64_t acc = bias[o];

        for (int ky = 0; ky < p->kernel_h; ++ky)
        for (int kx = 0; kx < p->kernel_w; ++kx)
        for (int c = 0; c < depth; ++c) {
            const int y = p->in_y0 + oy * p->stride_h + ky * p->dilation_h;
            const int x = p->in_x0 + ox * p->stride_w + kx * p->dilation_w;

            acc += input_at(p, in, y, x, group * depth + c) *
                   weight[((o * p->kernel_h + ky) * p->kernel_w + kx) * depth + c];
        }
        out[(oy * p->out_w + ox) * p->out_pixel_stride + o] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier[o], p->shift[o]) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}

void cortexm_depthwise_conv2d_s8_ref(const cortexm_conv_s8_t *p, const int8_t *in,
                                     const int8_t *weight, const int32_t *bias, int8_t *out,
                                     void *scratch)
{
    (void)scratch;
    for (int oy = 0; oy < p->out_h; ++oy)
    for (int ox = 0; ox < p->out_w; ++ox)
    for (int o = 0; o < p->out_c; ++o) {
        const int channel = o / (p->out_c / p->in_c);
        int64_t acc = bias[o];

        for (int ky = 0; ky < p->kernel_h; ++ky)
        for (int kx = 0; kx < p->kernel_w; ++kx) {
            const int y = p->in_y0 + oy * p->stride_h + ky * p->dilation_h;
            const int x = p->in_x0 + ox * p->stride_w + kx * p->dilation_w;

            acc += input_at(p, in, y, x, channel) *
                   weight[(ky * p->kernel_w + kx) * p->out_c + o];
        }
        out[(oy * p->out_w + ox) * p->out_pixel_stride + o] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier[o], p->shift[o]) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}

/* Special cases of an operator. */
#define SPECIAL_S8(op, of)                                                                         \
    void cortexm_##op##_s8_ref(const cortexm_conv_s8_t *p, const int8_t *in, const int8_t *weight, \
                               const int32_t *bias, int8_t *out, void *scratch)                    \
    {                                                                                              \
        cortexm_##of##_s8_ref(p, in, weight, bias, out, scratch);                                  \
    }

SPECIAL_S8(conv2d_symmetric, conv2d)
SPECIAL_S8(conv2d_3x3_3x2, conv2d)
SPECIAL_S8(conv2d_2x4, conv2d)
SPECIAL_S8(conv2d_ungrouped, conv2d)
SPECIAL_S8(conv2d_1x1_c32, conv2d)
SPECIAL_S8(conv2d_1x1_c16, conv2d)
SPECIAL_S8(conv2d_gathered, conv2d)
SPECIAL_S8(conv2d_direct, conv2d)
SPECIAL_S8(conv2d_4x2, conv2d)
SPECIAL_S8(conv2d_by_channel, conv2d)
SPECIAL_S8(depthwise_conv2d_3x4, depthwise_conv2d)
SPECIAL_S8(depthwise_conv2d_pairs, depthwise_conv2d)
SPECIAL_S8(depthwise_conv2d_by_channel, depthwise_conv2d)
SPECIAL_S8(depthwise_conv2d_3x3_relu, depthwise_conv2d)
SPECIAL_S8(depthwise_conv2d_pixel, depthwise_conv2d)
SPECIAL_S8(depthwise_conv2d_3x3, depthwise_conv2d)

void cortexm_depthwise_ring_s8_ref(const cortexm_ring_s8_t *p, const int32_t *position,
                                   const int8_t *ring, const int8_t *weight, const int32_t *bias,
                                   int32_t *position_after, int8_t *out)
{
    const int rows = p->turns * p->rows;
    const int newest = (int)ref_clamp(*position, 0, p->turns - 1);
    const int oldest = (newest + 1) % p->turns;

    for (int o = 0; o < p->channels; ++o) {
        int64_t acc = bias[o];

        for (int i = 0; i < rows; ++i) {
            const int row = (oldest * p->rows + i) % rows;

            acc += ring[(o / 4 * rows + row) * 4 + o % 4] * weight[i * p->channels + o];
        }
        out[o] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier[o], p->shift[o]) + p->out_zero_point, p->act_min,
            p->act_max);
    }
    *position_after = oldest;
}

/* The input that reaches an output position through a tap `distance` = (output position - position
 * of tap 0 of input 0 - tap * dilation) away, or -1. */
static int input_index(int distance, int stride, int extent)
{
    if (distance < 0 || distance % stride != 0 || distance / stride >= extent) {
        return -1;
    }
    return distance / stride;
}

void cortexm_transpose_conv2d_s8_ref(const cortexm_conv_s8_t *p, const int8_t *in,
                                     const int8_t *weight, const int32_t *bias, int8_t *out,
                                     void *scratch)
{
    (void)scratch;
    for (int oy = 0; oy < p->out_h; ++oy)
    for (int ox = 0; ox < p->out_w; ++ox)
    for (int o = 0; o < p->out_c; ++o) {
        int64_t acc = bias[o];

        for (int ky = 0; ky < p->kernel_h; ++ky)
        for (int kx = 0; kx < p->kernel_w; ++kx)
        for (int c = 0; c < p->in_c; ++c) {
            const int y = input_index(oy - p->in_y0 - ky * p->dilation_h, p->stride_h, p->in_h);
            const int x = input_index(ox - p->in_x0 - kx * p->dilation_w, p->stride_w, p->in_w);
            int code = p->in_zero_point;

            if (y >= 0 && x >= 0) {
                code = in[y * p->in_row_stride + x * p->in_c + c];
            }
            acc += code * weight[((o * p->kernel_h + ky) * p->kernel_w + kx) * p->in_c + c];
        }
        out[(oy * p->out_w + ox) * p->out_pixel_stride + o] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier[o], p->shift[o]) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}

/* Of int16 codes: the sums as above with zero points 0, where what lies outside adds nothing. */
static int64_t tap_s16(const cortexm_conv_s16_t *p, const int16_t *in, int y, int x, int c)
{
    return y < 0 || y >= p->in_h || x < 0 || x >= p->in_w
               ? 0
               : in[y * p->in_row_stride + x * p->in_c + c];
}

static int64_t conv2d_sum(const cortexm_conv_s16_t *p, const int16_t *in, const int8_t *weight,
                          int oy, int ox, int o)
{
    const int depth = p->in_c / p->groups;
    const int first = o / (p->out_c / p->groups) * depth;
    int64_t sum = 0;

    for (int ky = 0; ky < p->kernel_h; ++ky)
    for (int kx = 0; kx < p->kernel_w; ++kx)
    for (int c = 0; c < depth; ++c) {
        sum += tap_s16(p, in, p->in_y0 + oy * p->stride_h + ky * p->dilation_h,
                       p->in_x0 + ox * p->stride_w + kx * p->dilation_w, first + c) *
               weight[((o * p->kernel_h + ky) * p->kernel_w + kx) * depth + c];
    }
    return sum;
}

static int64_t depthwise_conv2d_sum(const cortexm_conv_s16_t *p, const int16_t *in,
                                    const int8_t *weight, int oy, int ox, int o)
{
    int64_t sum = 0;

    for (int ky = 0; ky < p->kernel_h; ++ky)
    for (int kx = 0; kx < p->kernel_w; ++kx) {
        sum += tap_s16(p, in, p->in_y0 + oy * p->stride_h + ky * p->dilation_h,
                       p->in_x0 + ox * p->stride_w + kx * p->dilation_w,
                       o / (p->out_c / p->in_c)) *
               weight[(ky * p->kernel_w + kx) * p->out_c + o];
    }
    return sum;
}

static int64_t transpose_conv2d_sum(const cortexm_conv_s16_t *p, const int16_t *in,
                                    const int8_t *weight, int oy, int ox, int o)
{
    int64_t sum = 0;

    for (int ky = 0; ky < p->kernel_h; ++ky)
    for (int kx = 0; kx < p->kernel_w; ++kx)
    for (int c = 0; c < p->in_c; ++c) {
        sum += tap_s16(p, in,
                       input_index(oy - p->in_y0 - ky * p->dilation_h, p->stride_h, p->in_h),
                       input_index(ox - p->in_x0 - kx * p->dilation_w, p->stride_w, p->in_w), c) *
               weight[((o * p->kernel_h + ky) * p->kernel_w + kx) * p->in_c + c];
    }
    return sum;
}

#define CONV_S16(op, SUM, bias_type)                                                               \
    void cortexm_##op##_s16_ref(const cortexm_conv_s16_t *p, const int16_t *in,                    \
                                const int8_t *weight, const bias_type *bias, int16_t *out,         \
                                void *scratch)                                                     \
    {                                                                                              \
        (void)scratch;                                                                             \
        for (int oy = 0; oy < p->out_h; ++oy)                                                      \
        for (int ox = 0; ox < p->out_w; ++ox)                                                      \
        for (int o = 0; o < p->out_c; ++o) {                                                       \
            const int64_t sum = bias[o] + SUM(p, in, weight, oy, ox, o);                           \
                                                                                                   \
            out[(oy * p->out_w + ox) * p->out_pixel_stride + o] = (int16_t)ref_clamp(              \
                ref_requantize_wide(sum, p->multiplier[o], p->shift[o]), p->act_min, p->act_max);  \
        }                                                                                          \
    }

CONV_S16(conv2d, conv2d_sum, int32_t)
CONV_S16(conv2d_wide, conv2d_sum, int64_t)
CONV_S16(depthwise_conv2d, depthwise_conv2d_sum, int32_t)
CONV_S16(depthwise_conv2d_by_channel, depthwise_conv2d_sum, int32_t)
CONV_S16(depthwise_conv2d_wide, depthwise_conv2d_sum, int64_t)
CONV_S16(transpose_conv2d, transpose_conv2d_sum, int32_t)
CONV_S16(transpose_conv2d_wide, transpose_conv2d_sum, int64_t)

CORTEXM_CONV_F32(cortexm_conv2d_f32_ref)
{
    const cortexm_conv_f32_t *p = params;
    const int group_in = p->in_c / p->groups;
    const int outputs = p->batches * p->out_c * p->out_h * p->out_w;

    for (int i = 0; i < outputs; ++i) {
        const int x = i % p->out_w;
        const int y = i / p->out_w % p->out_h;
        const int o = i / p->out_w / p->out_h % p->out_c;
        const int n = i / p->out_w / p->out_h / p->out_c;
        float sum = bias[o * p->bias_stride];

        for (int tap = 0; tap < group_in * p->kernel_h * p->kernel_w; ++tap) {
            const int kx = tap % p->kernel_w;
            const int ky = tap / p->kernel_w % p->kernel_h;
            const int c = tap / p->kernel_w / p->kernel_h + o / (p->out_c / p->groups) * group_in;
            const int from_y = y * p->stride_h - p->pad_top + ky * p->dilation_h;
            const int from_x = x * p->stride_w - p->pad_left + kx * p->dilation_w;

            if (from_y >= 0 && from_y < p->in_h && from_x >= 0 && from_x < p->in_w) {
                sum = ref_fma(sum,
                              in[n * p->in_strides[0] + c * p->in_strides[1] +
                                 from_y * p->in_strides[2] + from_x * p->in_strides[3]],
                              weight[o * group_in * p->kernel_h * p->kernel_w + tap]);
            }
        }
        out[n * p->out_strides[0] + o * p->out_strides[1] + y * p->out_strides[2] +
            x * p->out_strides[3]] = sum;
    }
}

CORTEXM_CONV_F32(cortexm_conv2d_depthwise_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

CORTEXM_CONV_F32(cortexm_conv2d_depthwise_4x4_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

CORTEXM_CONV_F32(cortexm_conv2d_c1_1x3_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

CORTEXM_CONV_F32(cortexm_conv2d_c1_1x4_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

CORTEXM_CONV_F32(cortexm_conv2d_c1_1x5_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

CORTEXM_CONV_F32(cortexm_conv2d_depthwise_nchw_3x3_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

CORTEXM_CONV_F32(cortexm_conv2d_depthwise_nchw_row_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

CORTEXM_CONV_F32(cortexm_conv2d_depthwise_nchw_1x8_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

CORTEXM_CONV_F32(cortexm_conv2d_row_f32_ref)
{
    cortexm_conv2d_f32_ref(params, in, weight, bias, out);
}

/* Scatters every input channel by channel and tap by tap, so that each output gets its terms in the
 * order of the weights. */
CORTEXM_CONV_F32(cortexm_transpose_conv2d_f32_ref)
{
    const cortexm_conv_f32_t *p = params;
    const int group_in = p->in_c / p->groups;
    const int group_out = p->out_c / p->groups;
    const int32_t *const si = p->in_strides;
    const int32_t *const so = p->out_strides;

    for (int n = 0; n < p->batches; ++n) {
        for (int o = 0; o < p->out_c; ++o) {
            float *to = out + n * so[0] + o * so[1];

            for (int i = 0; i < p->out_h * p->out_w; ++i) {
                to[i / p->out_w * so[2] + i % p->out_w * so[3]] = bias[o * p->bias_stride];
            }
            for (int k = 0; k < group_in * p->kernel_h * p->kernel_w; ++k) {
                const int kx = k % p->kernel_w;
                const int ky = k / p->kernel_w % p->kernel_h;
                const int c = k / p->kernel_w / p->kernel_h + o / group_out * group_in;
                const float w =
                    weight[((c * group_out + o % group_out) * p->kernel_h + ky) * p->kernel_w + kx];

                for (int i = 0; i < p->in_h * p->in_w; ++i) {
                    const int y = i / p->in_w * p->stride_h + ky * p->dilation_h - p->pad_top;
                    const int x = i % p->in_w * p->stride_w + kx * p->dilation_w - p->pad_left;

                    if (y >= 0 && y < p->out_h && x >= 0 && x < p->out_w) {
                        float *const sum = to + y * so[2] + x * so[3];

                        *sum = ref_fma(*sum,
                                       in[n * si[0] + c * si[1] + i / p->in_w * si[2] +
                                          i % p->in_w * si[3]],
                                       w);
                    }
                }
            }
        }
    }
}
