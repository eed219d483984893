/* SPDX-License-Identifier: Apache-2.0 */
/* transpose_conv2d, int8, DSP instructions: one convolution for each phase of the stride (taps.h).
 *
 * The window of a pixel is widened to 16 bits in scratch and multiplied with four channels at once
 * (dsp.h). */
#if !defined(__ARM_FEATURE_DSP)
#error "transpose_conv2d_s8_dsp.c needs the DSP extension"
#endif

#include "common/apart.h"
#include "common/dsp.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

typedef struct {
    const cortexm_conv_s8_t *p;
    const int8_t *in;
    const cortexm_word_t *weight; /* of the phase, likewise those below */
    const int32_t *bias;
    cortexm_phase_t rows, cols;
    int32_t quads;                /* fours of inputs of a window */
    int32_t block;                /* words of four channels' weights */
    int32_t twice_zero_point_plus_one;
    int16_t *window;
} layer_t;

/* n codes in 16 bits; `to` is aligned to these only. Returns the place behind them. */
static int16_t *put_codes(int16_t *to, const int8_t *from, int32_t n)
{
    for (; n >= 4; n -= 4) {
        const uint32_t codes = cortexm_load4(from);
        const uint32_t even = cortexm_sxtb16(codes);
        const uint32_t odd = cortexm_sxtb16_ror8(codes);
        const uint32_t first = cortexm_lower_halves(even, odd);
        const uint32_t second = cortexm_upper_halves(even, odd);

        memcpy(to, &first, sizeof first);
        memcpy(to + 2, &second, sizeof second);
        from += 4;
        to += 4;
    }
    for (; n > 0; --n) {
        *to++ = *from++;
    }
    return to;
}

static int16_t *put_constant(int16_t *to, int32_t value, int32_t n)
{
    for (; n > 0; --n) {
        *to++ = (int16_t)value;
    }
    return to;
}

/* The window that begins at (y, x) of the image, with zeros up to a whole four. */
static CORTEXM_APART void put_window(const layer_t *l, int32_t y, int32_t x)
{
    const cortexm_conv_s8_t *const p = l->p;
    const int32_t taps = l->cols.taps;
    const int32_t left = cortexm_clamp(-x, 0, taps) * p->in_c;
    const int32_t right = cortexm_clamp(x + taps - p->in_w, 0, taps) * p->in_c;
    const int32_t all = taps * p->in_c;
    const int8_t *row = l->in + y * p->in_row_stride + x * p->in_c + left;
    int16_t *to = l->window;

    for (int32_t ky = l->rows.taps; ky > 0; --ky) {
        if ((uint32_t)y < p->in_h) {
            to = put_constant(to, p->in_zero_point, left);
            to = put_codes(to, row, all - left - right);
            to = put_constant(to, p->in_zero_point, right);
        } else {
            to = put_constant(to, p->in_zero_point, all);
        }
        row += p->in_row_stride;
        ++y;
    }
    (void)put_constant(to, 0, 4 * l->quads - l->rows.taps * all);
}

/* All channels of the pixel whose window is in scratch. */
static CORTEXM_APART void put_pixel(const layer_t *l, int8_t *out)
{
    const cortexm_word_t *const x = (const cortexm_word_t *)(const void *)l->window;
    const int32_t quads = l->quads;
    const int32_t start = cortexm_pairs_start(x, 1, quads);
    const int32_t zero_point = l->twice_zero_point_plus_one;
    const cortexm_word_t *w = l->weight;
    const int32_t *bias = l->bias;
    const int32_t *multiplier = l->p->multiplier;
    const int8_t *shift = l->p->shift;

    for (int32_t left = l->p->out_c; left > 0;) {
        const int32_t count = left >= 4 ? 4 : 1;
        int32_t sum[4] = {0};

        if (quads > 0) {
            if (count == 4) {
                cortexm_gemm_1x4(x, 1, w, 2, 1, quads, start, sum);
            } else {
                sum[0] = cortexm_gemm_1x1(x, 1, w, quads);
            }
        }
        w += count == 4 ? l->block : quads;
        left -= count;
        for (int32_t c = 0; c < count; ++c) {
            *out++ = (int8_t)cortexm_narrow_code(2 * (*bias++ + sum[c]), *multiplier++,
                                                 -1 - *shift++, zero_point);
        }
    }
}

/* All outputs of a phase. */
static void phase(const layer_t *l, int8_t *out)
{
    const cortexm_conv_s8_t *const p = l->p;
    int32_t y = l->rows.start;

    for (int32_t oy = l->rows.first; oy < p->out_h; oy += p->stride_h) {
        int32_t x = l->cols.start;

        for (int32_t ox = l->cols.first; ox < p->out_w; ox += p->stride_w) {
            put_window(l, y, x);
            put_pixel(l, out + (oy * p->out_w + ox) * p->out_pixel_stride);
            ++x;
        }
        ++y;
    }
}

void cortexm_transpose_conv2d_s8_dsp(const cortexm_conv_s8_t *params, const int8_t *in,
                                     const int8_t *weight, const int32_t *bias, int8_t *out,
                                     void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    layer_t l = {.p = p,
                 .in = in,
                 .weight = (const cortexm_word_t *)(const void *)weight,
                 .bias = bias,
                 .twice_zero_point_plus_one = 2 * p->out_zero_point + 1,
                 .window = scratch};

    CORTEXM_ASSERT(p->dilation_h == 1 && p->dilation_w == 1);
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);

    for (int32_t y = 0; y < p->stride_h; ++y) {
        l.rows = cortexm_phase_of(y, p->in_y0, p->stride_h, p->kernel_h);
        for (int32_t x = 0; x < p->stride_w; ++x) {
            l.cols = cortexm_phase_of(x, p->in_x0, p->stride_w, p->kernel_w);
            l.quads = (l.rows.taps * l.cols.taps * p->in_c + 3) / 4;
            l.block = (l.rows.taps * l.cols.taps * p->in_c + 1) / 2 * 2;
            phase(&l, out);
            l.weight += p->out_c / 4 * l.block + p->out_c % 4 * l.quads;
            l.bias += p->out_c;
        }
    }
    cortexm_clamp_image(p, out);
}
