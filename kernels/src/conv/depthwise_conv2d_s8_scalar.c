/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_conv2d, int8, portable C. See README.md for the formula.
 *
 * For each pixel, scratch holds a pointer per tap: into the image, or to a pixel of padding that
 * lies behind the pointers. So the inner loops know nothing of borders, strides and dilation. */
#include "common/codes.h"
#include "common/tap_fours.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

static void find_taps(const cortexm_conv_s8_t *p, const int8_t *in, int32_t y, int32_t x0,
                      const int8_t *padding, const int8_t **taps)
{
    const int32_t tap_step = p->dilation_w * p->in_c;

    for (int32_t ky = p->kernel_h; ky > 0; --ky) {
        const int is_inside = y >= 0 && y < p->in_h;
        const int8_t *tap = in + y * p->in_row_stride + x0 * p->in_c;
        int32_t x = x0;

        for (int32_t kx = p->kernel_w; kx > 0; --kx) {
            *taps++ = is_inside && x >= 0 && x < p->in_w ? tap : padding;
            x += p->dilation_w;
            tap += tap_step;
        }
        y += p->dilation_h;
    }
}

/* One pixel with an output per input channel, four at a time; w is [channel / 4][tap][4]. */
static void pixel_of_fours(const cortexm_codes_t *codes, int32_t channels, const int8_t *const *taps,
                           const int8_t *const *taps_end, const int8_t *w, const int32_t *bias,
                           int8_t *out)
{
    for (int32_t o = 0; o < channels; o += 4) {
        int32_t sum[4];

        w = cortexm_tap_fours(taps, taps_end, o, w, sum);
        cortexm_four_codes(codes, o, 4, bias + o, sum, out + o);
    }
}

/* One pixel with any number of channels. */
static void pixel(const cortexm_codes_t *codes, int32_t channels, int32_t multiple,
                  const int8_t *const *taps, const int8_t *const *taps_end, const int8_t *weight,
                  const int32_t *bias, int8_t *out)
{
    const int32_t block = 4 * (int32_t)(taps_end - taps);
    int32_t of_this_input = multiple; /* outputs that still read this input channel */
    int32_t channel = 0;

    for (int32_t o = 0; o < channels; ++o) {
        const int8_t *w = weight + (o >> 2) * block + (o & 3);
        int32_t sum = bias[o];

        for (const int8_t *const *tap = taps; tap != taps_end; ++tap) {
            sum += (*tap)[channel] * *w;
            w += 4;
        }
        out[o] = cortexm_code(codes, o, sum);
        if (--of_this_input == 0) {
            of_this_input = multiple;
            ++channel;
        }
    }
}

void cortexm_depthwise_conv2d_s8_scalar(const cortexm_conv_s8_t *params, const int8_t *in,
                                        const int8_t *weight, const int32_t *bias, int8_t *out,
                                        void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t multiple = p->in_c == p->out_c ? 1 : p->out_c / p->in_c;
    const int8_t **const taps = scratch;
    const int8_t **const taps_end = taps + p->kernel_h * p->kernel_w;
    const cortexm_codes_t codes = cortexm_codes(p->multiplier, p->shift, p->out_c,
                                                p->out_zero_point, p->act_min, p->act_max);
    int8_t *const padding = (int8_t *)(void *)taps_end;

    CORTEXM_ASSERT(p->in_c > 0 && p->out_c % p->in_c == 0);
    CORTEXM_ASSERT(p->act_min <= p->act_max);

    for (int32_t c = 0; c < p->in_c; ++c) {
        padding[c] = p->in_zero_point;
    }
    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        int8_t *out_pixel = out + oy * p->out_row_stride;
        int32_t x = p->in_x0;

        for (int32_t ox = 0; ox < p->out_w; ++ox) {
            find_taps(p, in, y, x, padding, taps);
            if (multiple == 1 && (p->out_c & 3) == 0) {
                pixel_of_fours(&codes, p->out_c, taps, taps_end, weight, bias, out_pixel);
            } else {
                pixel(&codes, p->out_c, multiple, taps, taps_end, weight, bias, out_pixel);
            }
            out_pixel += p->out_c;
            x += p->stride_w;
        }
    }
}
