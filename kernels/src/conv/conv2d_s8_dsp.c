/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d, int8, DSP instructions. See README.md for the formula.
 *
 * Four pixels at a time: their windows are widened to 16 bits into a panel in scratch, words
 * [k / 2][pixel], and multiplied with two channels at once. The pixels that remain at the end are
 * multiplied one by one, with four channels at once. */
#if !defined(__ARM_FEATURE_DSP)
#error "conv2d_s8_dsp.c needs the DSP extension"
#endif

#include "common/gemm_dsp.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

#define PANEL 4

/* sum[i] and sum[4 + i]: products of pixel i with channels a and b, for up to 127 quads of inputs.
 * Twelve values live in the loop besides the two that a load brings: all registers there are, which
 * no compiler finds. */
__attribute__((naked, noinline)) static void gemm_4x2(const cortexm_word_t *x,
                                                      const cortexm_word_t *w, int32_t quads,
                                                      int32_t *sum)
{
    (void)x;
    (void)w;
    (void)quads;
    (void)sum;
    __asm__ volatile(
        "push   {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
        "add    r2, r1, r2, lsl #4\n"
        "push   {r2}\n" /* the end of the weights */
        "mov    r4, #0\n"
        "mov    r5, #0\n"
        "mov    r6, #0\n"
        "mov    r7, #0\n"
        "mov    r8, #0\n"
        "mov    r9, #0\n"
        "mov    r10, #0\n"
        "mov    r11, #0\n"
        "1:\n"
        "ldr    r2, [r1], #8\n"
        "ldrd   r12, lr, [r0], #8\n"
        "sxtb16 r3, r2\n"
        "smlad  r8, r12, r2, r8\n"
        "smlad  r4, r12, r3, r4\n"
        "smlad  r9, lr, r2, r9\n"
        "smlad  r5, lr, r3, r5\n"
        "ldrd   r12, lr, [r0], #8\n"
        "smlad  r10, r12, r2, r10\n"
        "smlad  r6, r12, r3, r6\n"
        "smlad  r11, lr, r2, r11\n"
        "smlad  r7, lr, r3, r7\n"
        "ldr    r2, [r1], #8\n"
        "ldrd   r12, lr, [r0], #8\n"
        "sxtb16 r3, r2\n"
        "smlad  r8, r12, r2, r8\n"
        "smlad  r4, r12, r3, r4\n"
        "smlad  r9, lr, r2, r9\n"
        "smlad  r5, lr, r3, r5\n"
        "ldrd   r12, lr, [r0], #8\n"
        "smlad  r10, r12, r2, r10\n"
        "smlad  r6, r12, r3, r6\n"
        "smlad  r11, lr, r2, r11\n"
        "smlad  r7, lr, r3, r7\n"
        "ldr    r2, [sp]\n"
        "cmp    r1, r2\n"
        "bne    1b\n"
        "add    sp, #4\n"
        "pop    {r3}\n"
        "sub    r8, r8, r4\n"
        "sub    r9, r9, r5\n"
        "sub    r10, r10, r6\n"
        "sub    r11, r11, r7\n"
        "asr    r8, r8, #8\n"
        "asr    r9, r9, #8\n"
        "asr    r10, r10, #8\n"
        "asr    r11, r11, #8\n"
        "stmia  r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
        "pop    {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

/* gemm_4x2 for any number of inputs. */
static void gemm(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads, int32_t sum[8])
{
    int32_t more[8];

    gemm_4x2(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), sum);
    for (quads -= CORTEXM_RUN_QUADS; quads > 0; quads -= CORTEXM_RUN_QUADS) {
        x += CORTEXM_RUN_QUADS * 2 * PANEL;
        w += CORTEXM_RUN_QUADS * 4;
        gemm_4x2(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), more);
        for (int32_t i = 0; i < 8; ++i) {
            sum[i] += more[i];
        }
    }
}

/* Where the next input of a pixel goes in its panel: the other half of the word, or the lower half
 * of the pixel's next word. */
static int16_t *next(int16_t *to)
{
    return to + (((uintptr_t)to & 2u) != 0u ? 2 * PANEL - 1 : 1);
}

static int16_t *put_codes(int16_t *to, const int8_t *from, int32_t n)
{
    if (n > 0 && ((uintptr_t)to & 2u) != 0u) {
        *to = *from++;
        to += 2 * PANEL - 1;
        --n;
    }
    for (; n >= 4; n -= 4) {
        const uint32_t codes = cortexm_load4(from);
        const uint32_t even = cortexm_sxtb16(codes);
        const uint32_t odd = cortexm_sxtb16_ror8(codes);
        cortexm_word_t *const word = (cortexm_word_t *)(void *)to;

        word[0] = cortexm_lower_halves(even, odd);
        word[PANEL] = cortexm_upper_halves(even, odd);
        from += 4;
        to += 4 * PANEL;
    }
    for (; n > 0; --n) {
        *to = *from++;
        to = next(to);
    }
    return to;
}

static int16_t *put_constant(int16_t *to, int32_t value, int32_t n)
{
    for (; n > 0; --n) {
        *to = (int16_t)value;
        to = next(to);
    }
    return to;
}

/* The window whose first tap is at (y, x) of the image. */
static void put_window(const cortexm_conv_s8_t *p, const int8_t *in, int32_t y, int32_t x,
                       cortexm_word_t *panel)
{
    const int32_t channels = p->in_c;
    const cortexm_taps_t cols = cortexm_taps_inside(x, p->dilation_w, p->kernel_w, p->in_w);
    const int8_t *row = in + y * p->in_row_stride + (x + cols.begin * p->dilation_w) * channels;
    int16_t *to = (int16_t *)(void *)panel;

    for (int32_t ky = p->kernel_h; ky > 0; --ky) {
        if (y < 0 || y >= p->in_h) {
            to = put_constant(to, p->in_zero_point, p->kernel_w * channels);
        } else {
            to = put_constant(to, p->in_zero_point, cols.begin * channels);
            if (p->dilation_w == 1) {
                to = put_codes(to, row, cortexm_taps_count(cols) * channels);
            } else {
                const int8_t *tap = row;

                for (int32_t kx = cols.begin; kx < cols.end; ++kx) {
                    to = put_codes(to, tap, channels);
                    tap += p->dilation_w * channels;
                }
            }
            to = put_constant(to, p->in_zero_point, (p->kernel_w - cols.end) * channels);
        }
        y += p->dilation_h;
        row += p->dilation_h * p->in_row_stride;
    }
}

/* What all pixels share. */
typedef struct {
    const cortexm_conv_s8_t *p;
    const cortexm_word_t *weight;
    const int32_t *bias;
    int32_t quads;              /* fours of inputs of a window */
    cortexm_narrow_out_t range;
} layer_t;

/* Channel o of the panel's pixels. */
static void finish(const layer_t *l, int32_t o, const int32_t *sum, int8_t *const pixel[PANEL])
{
    const int32_t bias = l->bias[o];
    const int32_t multiplier = l->p->multiplier[o];
    const int32_t n_minus_one = -1 - l->p->shift[o];

    for (int32_t i = 0; i < PANEL; ++i) {
        pixel[i][o] = cortexm_narrow_code(&l->range, bias + sum[i], multiplier, n_minus_one);
    }
}

static void multiply_panel(const layer_t *l, const cortexm_word_t *panel, int8_t *const pixel[PANEL])
{
    const cortexm_word_t *w = l->weight;
    const int32_t out_c = l->p->out_c;

    for (int32_t o = 0; o < out_c; o += 2) {
        int32_t sum[2 * PANEL];

        gemm(panel, w, l->quads, sum);
        finish(l, o, sum, pixel);
        if (o + 1 < out_c) {
            finish(l, o + 1, sum + PANEL, pixel);
        }
        w += (o & 2) == 0 ? 1 : 4 * l->quads - 1;
    }
}

static void multiply_pixel(const layer_t *l, const cortexm_word_t *x, int8_t *pixel)
{
    const cortexm_word_t *w = l->weight;
    const int32_t out_c = l->p->out_c;

    for (int32_t o = 0; o < out_c;) {
        int32_t sum[4];

        cortexm_gemm_1x4(x, PANEL, w, l->quads, sum);
        w += 4 * l->quads;
        for (int32_t c = 0; c < 4 && o < out_c; ++c, ++o) {
            pixel[o] = cortexm_narrow_code(&l->range, l->bias[o] + sum[c], l->p->multiplier[o],
                                           -1 - l->p->shift[o]);
        }
    }
}

void cortexm_conv2d_s8_dsp(const cortexm_conv_s8_t *params, const int8_t *in, const int8_t *weight,
                           const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const layer_t layer = {
        p,
        (const cortexm_word_t *)(const void *)weight,
        bias,
        (p->kernel_h * p->kernel_w * p->in_c + 3) / 4,
        cortexm_narrow_out(p->out_zero_point, p->act_min, p->act_max),
    };
    cortexm_word_t *const panel = scratch;
    int8_t *pixel[PANEL];
    int32_t filled = 0;

    CORTEXM_ASSERT(p->groups == 1 && p->act_min <= p->act_max);

    /* Inputs that fill the last four up have the weight 0. */
    for (int32_t i = 1; i <= 2 * PANEL; ++i) {
        panel[layer.quads * 2 * PANEL - i] = 0;
    }
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t oy = 0; oy < p->out_h; ++oy) {
            const int32_t y = p->in_y0 + oy * p->stride_h;
            int8_t *out_pixel = out + oy * p->out_row_stride;
            int32_t x = p->in_x0;

            for (int32_t ox = 0; ox < p->out_w; ++ox) {
                put_window(p, in, y, x, panel + filled);
                pixel[filled] = out_pixel;
                if (++filled == PANEL) {
                    multiply_panel(&layer, panel, pixel);
                    filled = 0;
                }
                out_pixel += p->out_c;
                x += p->stride_w;
            }
        }
        in += p->in_batch_stride;
        out += p->out_batch_stride;
    }
    for (int32_t i = 0; i < filled; ++i) {
        multiply_pixel(&layer, panel + i, pixel[i]);
    }
}
