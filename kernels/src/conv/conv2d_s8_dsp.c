/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d, int8, DSP instructions. See kernels/README.md for the formula.
 *
 * Four pixels at a time: their windows are widened to 16 bits into a panel in scratch, words
 * [k / 2][pixel], and multiplied with two channels at once. The pixels that remain at the end are
 * multiplied one by one, with four channels at once. */
#if !defined(__ARM_FEATURE_DSP)
#error "conv2d_s8_dsp.c needs the DSP extension"
#endif

#include "common/dsp.h"
#include "common/names.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

#define PANEL 4

/* Two inputs of four pixels times two channels: r0 points to the panel, r1 to the weights; r4 to r7
 * are the sums U of the pixels, r8 to r11 the sums S (dsp.h). */
#define MULTIPLY_STEP                                                                              \
    "ldr    r2, [r1], #4\n"                                                                        \
    "ldrd   r12, lr, [r0], #8\n"                                                                   \
    "uxtb16 r3, r2\n"                                                                              \
    "smlad  r8, r12, r2, r8\n"                                                                     \
    "smlad  r4, r12, r3, r4\n"                                                                     \
    "smlad  r9, lr, r2, r9\n"                                                                      \
    "smlad  r5, lr, r3, r5\n"                                                                      \
    "ldrd   r12, lr, [r0], #8\n"                                                                   \
    "smlad  r10, r12, r2, r10\n"                                                                   \
    "smlad  r6, r12, r3, r6\n"                                                                     \
    "smlad  r11, lr, r2, r11\n"                                                                    \
    "smlad  r7, lr, r3, r7\n"

/* What gemm_4x2 begins with and returns: sum[i] and sum[4 + i] are products of pixel i with channels
 * a and b. */
typedef struct {
    int32_t start[PANEL];
    int32_t sum[2 * PANEL];
} sums_t;

/* Up to 127 quads of inputs. Twelve values live in the loop besides the two that a load brings: all
 * registers there are, which no compiler finds. */
__attribute__((naked, noinline)) static void gemm_4x2(const cortexm_word_t *x,
                                                      const cortexm_word_t *w, int32_t quads,
                                                      sums_t *sums)
{
    (void)x;
    (void)w;
    (void)quads;
    (void)sums;
    __asm__ volatile(
        "push   {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
        "tst    r2, #1\n" /* an odd quad begins in the middle of the loop */
        "add    r2, r1, r2, lsl #3\n"
        "push   {r2}\n" /* the end of the weights */
        "ldmia  r3, {r4, r5, r6, r7}\n"
        "mov    r8, r4\n"
        "mov    r9, r5\n"
        "mov    r10, r6\n"
        "mov    r11, r7\n"
        "bne    3f\n"
        "1:\n" MULTIPLY_STEP MULTIPLY_STEP
        "3:\n" MULTIPLY_STEP MULTIPLY_STEP
        "ldr    r2, [sp]\n"
        "cmp    r1, r2\n"
        "bne    1b\n"
        "add    sp, #4\n"
        "pop    {r3}\n"
        "add    r3, #16\n"
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

/* A panel and where its results go. The assembly below knows the places of the members. */
typedef struct {
    const cortexm_word_t *x;
    const cortexm_word_t *w;     /* of the next two channels */
    int32_t bytes;               /* that are read of two channels' weights */
    int32_t start[PANEL];
    int8_t *out;                 /* the next channel of the first pixel */
    int32_t out_pixel_stride;
    const int32_t *bias;         /* of the next channel, likewise the next two */
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t twice_zero_point_plus_one;
    int32_t twos;                /* channels left, in twos */
    int32_t next_w;              /* from the end of these to the next two channels' weights */
} panel_t;

/* All channels of a panel, two at a time, for up to 127 quads of inputs; cortexm_narrow_code says
 * what is done with the sums. */
__attribute__((naked, noinline)) static void panel_codes(panel_t *panel)
{
    (void)panel;
    __asm__ volatile(
        "push   {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
        "sub    sp, #12\n"
        "str    r0, [sp, #4]\n"
        "mov    r3, r0\n"
        "2:\n"
        "add    r12, r3, #12\n"
        "ldm    r3, {r0, r1, r2}\n"
        "ldmia  r12, {r4, r5, r6, r7}\n"
        "tst    r2, #8\n"
        "add    r2, r2, r1\n"
        "str    r2, [sp]\n" /* the end of the weights */
        "mov    r8, r4\n"
        "mov    r9, r5\n"
        "mov    r10, r6\n"
        "mov    r11, r7\n"
        "bne    3f\n"
        "1:\n" MULTIPLY_STEP MULTIPLY_STEP
        "3:\n" MULTIPLY_STEP MULTIPLY_STEP
        "ldr    r2, [sp]\n"
        "cmp    r1, r2\n"
        "bne    1b\n"
        "ldr    r3, [sp, #4]\n"
        "ldr    r0, [r3, #56]\n"
        "add    r1, r0\n"
        "str    r1, [r3, #4]\n"
        /* S - U = 256 * B, and twice bias + sum; then the products' upper halves. */
        "sub    r8, r8, r4\n"
        "sub    r9, r9, r5\n"
        "sub    r10, r10, r6\n"
        "sub    r11, r11, r7\n"
        "ldr    r0, [r3, #36]\n"
        "ldr    r1, [r3, #40]\n"
        "ldr    r12, [r0], #4\n"
        "ldr    lr, [r1], #4\n"
        "lsl    r12, r12, #1\n"
        "add    r4, r12, r4, lsl #1\n"
        "add    r5, r12, r5, lsl #1\n"
        "add    r6, r12, r6, lsl #1\n"
        "add    r7, r12, r7, lsl #1\n"
        "smmulr r4, r4, lr\n"
        "smmulr r5, r5, lr\n"
        "smmulr r6, r6, lr\n"
        "smmulr r7, r7, lr\n"
        "ldr    r12, [r0], #4\n"
        "ldr    lr, [r1], #4\n"
        "lsl    r12, r12, #1\n"
        "add    r8, r12, r8, asr #7\n"
        "add    r9, r12, r9, asr #7\n"
        "add    r10, r12, r10, asr #7\n"
        "add    r11, r12, r11, asr #7\n"
        "smmulr r8, r8, lr\n"
        "smmulr r9, r9, lr\n"
        "smmulr r10, r10, lr\n"
        "smmulr r11, r11, lr\n"
        "str    r0, [r3, #36]\n"
        "str    r1, [r3, #40]\n"
        "ldr    r12, [r3, #44]\n"
        "ldr    r2, [r3, #48]\n"
        "ldrsb  r0, [r12], #1\n"
        "ldrsb  r1, [r12], #1\n"
        "str    r12, [r3, #44]\n"
        "mvn    r0, r0\n"
        "mvn    r1, r1\n"
        "add    r4, r4, r4, asr #31\n"
        "add    r5, r5, r5, asr #31\n"
        "add    r6, r6, r6, asr #31\n"
        "add    r7, r7, r7, asr #31\n"
        "add    r8, r8, r8, asr #31\n"
        "add    r9, r9, r9, asr #31\n"
        "add    r10, r10, r10, asr #31\n"
        "add    r11, r11, r11, asr #31\n"
        "asr    r4, r4, r0\n"
        "asr    r5, r5, r0\n"
        "asr    r6, r6, r0\n"
        "asr    r7, r7, r0\n"
        "asr    r8, r8, r1\n"
        "asr    r9, r9, r1\n"
        "asr    r10, r10, r1\n"
        "asr    r11, r11, r1\n"
        "add    r4, r2\n"
        "add    r5, r2\n"
        "add    r6, r2\n"
        "add    r7, r2\n"
        "add    r8, r2\n"
        "add    r9, r2\n"
        "add    r10, r2\n"
        "add    r11, r2\n"
        "ssat   r4, #8, r4, asr #1\n"
        "ssat   r5, #8, r5, asr #1\n"
        "ssat   r6, #8, r6, asr #1\n"
        "ssat   r7, #8, r7, asr #1\n"
        "ssat   r8, #8, r8, asr #1\n"
        "ssat   r9, #8, r9, asr #1\n"
        "ssat   r10, #8, r10, asr #1\n"
        "ssat   r11, #8, r11, asr #1\n"
        /* Both channels of a pixel in one store. */
        "ldrd   r0, r1, [r3, #28]\n"
        "bfi    r4, r8, #8, #8\n"
        "bfi    r5, r9, #8, #8\n"
        "bfi    r6, r10, #8, #8\n"
        "bfi    r7, r11, #8, #8\n"
        "add    r12, r0, r1, lsl #1\n"
        "strh   r4, [r0]\n"
        "strh   r5, [r0, r1]\n"
        "strh   r6, [r12]\n"
        "strh   r7, [r12, r1]\n"
        "add    r0, #2\n"
        "str    r0, [r3, #28]\n"
        "ldr    r0, [r3, #52]\n"
        "subs   r0, #1\n"
        "str    r0, [r3, #52]\n"
        "bne    2b\n"
        "add    sp, #12\n"
        "pop    {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

/* gemm_4x2 for any number of inputs. */
static void gemm(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads, sums_t *sums)
{
    gemm_4x2(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), sums);
    for (quads -= CORTEXM_RUN_QUADS; quads > 0; quads -= CORTEXM_RUN_QUADS) {
        sums_t more = {.start = {0}};

        x += CORTEXM_RUN_QUADS * 2 * PANEL;
        w += CORTEXM_RUN_QUADS * 2;
        gemm_4x2(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), &more);
        for (int32_t i = 0; i < 2 * PANEL; ++i) {
            sums->sum[i] += more.sum[i];
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
    const int32_t is_inside = x >= 0 && y >= 0 &&
                              x + (p->kernel_w - 1) * p->dilation_w < p->in_w &&
                              y + (p->kernel_h - 1) * p->dilation_h < p->in_h;
    const cortexm_taps_t cols = cortexm_taps_inside(x, p->dilation_w, p->kernel_w, p->in_w);
    const int8_t *row = in + y * p->in_row_stride + (x + cols.begin * p->dilation_w) * channels;
    int16_t *to = (int16_t *)(void *)panel;

    if (is_inside && p->dilation_w == 1) {
        const int32_t length = p->kernel_w * channels;

        for (int32_t ky = p->kernel_h; ky > 0; --ky) {
            to = put_codes(to, row, length);
            row += p->dilation_h * p->in_row_stride;
        }
        return;
    }
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
    int32_t pair;               /* words of two channels' weights */
    int32_t twice_zero_point_plus_one;
} layer_t;

/* Channel o of the panel's pixels. */
static void finish(const layer_t *l, int32_t o, const int32_t *sum, int8_t *out)
{
    const int32_t step = l->p->out_pixel_stride;
    const int32_t twice_bias = 2 * l->bias[o];
    const int32_t multiplier = l->p->multiplier[o];
    const int32_t n_minus_one = -1 - l->p->shift[o];
    const int32_t zero_point = l->twice_zero_point_plus_one;

    out += o;
    *out = (int8_t)cortexm_narrow_code(twice_bias + 2 * sum[0], multiplier, n_minus_one, zero_point);
    out += step;
    *out = (int8_t)cortexm_narrow_code(twice_bias + 2 * sum[1], multiplier, n_minus_one, zero_point);
    out += step;
    *out = (int8_t)cortexm_narrow_code(twice_bias + 2 * sum[2], multiplier, n_minus_one, zero_point);
    out += step;
    *out = (int8_t)cortexm_narrow_code(twice_bias + 2 * sum[3], multiplier, n_minus_one, zero_point);
}

static void multiply_panel(const layer_t *l, const cortexm_word_t *panel, int8_t *out)
{
    const cortexm_word_t *w = l->weight;
    const int32_t out_c = l->p->out_c;
    sums_t sums;

    int32_t o = 0;

    for (int32_t i = 0; i < PANEL; ++i) {
        sums.start[i] = cortexm_pairs_start(panel + i, PANEL, l->quads);
    }
    if (l->quads <= CORTEXM_RUN_QUADS && out_c >= 2) {
        panel_t all = {panel,
                       w,
                       8 * l->quads,
                       {sums.start[0], sums.start[1], sums.start[2], sums.start[3]},
                       out,
                       l->p->out_pixel_stride,
                       l->bias,
                       l->p->multiplier,
                       l->p->shift,
                       l->twice_zero_point_plus_one,
                       out_c / 2,
                       4 * l->pair - 8 * l->quads};

        panel_codes(&all);
        w = all.w;
        o = out_c & ~1;
    }
    for (; o < out_c; o += 2) {
        gemm(panel, w, l->quads, &sums);
        finish(l, o, sums.sum, out);
        if (o + 1 < out_c) {
            finish(l, o + 1, sums.sum + PANEL, out);
        }
        w += l->pair;
    }
}

static void multiply_pixel(const layer_t *l, const cortexm_word_t *x, int8_t *out)
{
    const cortexm_word_t *w = l->weight;
    const int32_t out_c = l->p->out_c;
    const int32_t start = cortexm_pairs_start(x, PANEL, l->quads);

    for (int32_t o = 0; o < out_c;) {
        int32_t sum[4];

        /* A single pair is computed twice. */
        cortexm_gemm_1x4(x, PANEL, w, 1, out_c - o > 2 ? l->pair : 0, l->quads, start, sum);
        w += 2 * l->pair;
        for (int32_t c = 0; c < 4 && o < out_c; ++c, ++o) {
            out[o] = (int8_t)cortexm_narrow_code(2 * (l->bias[o] + sum[c]), l->p->multiplier[o],
                                                   -1 - l->p->shift[o],
                                                   l->twice_zero_point_plus_one);
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
        (p->kernel_h * p->kernel_w * p->in_c + 1) / 2,
        2 * p->out_zero_point + 1,
    };
    cortexm_word_t *const panel = scratch;
    int8_t *const results = out;
    int8_t *pixel = out;
    int32_t filled = 0;

    CORTEXM_ASSERT(p->groups == 1 && p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);

    /* Inputs that fill the last four up: their weights are any bytes. */
    for (int32_t i = 1; i <= 2 * PANEL; ++i) {
        panel[layer.quads * 2 * PANEL - i] = 0;
    }
    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        int32_t x = p->in_x0;

        for (int32_t ox = 0; ox < p->out_w; ++ox) {
            put_window(p, in, y, x, panel + filled);
            if (++filled == PANEL) {
                multiply_panel(&layer, panel, pixel);
                pixel += PANEL * p->out_pixel_stride;
                filled = 0;
            }
            x += p->stride_w;
        }
    }
    for (int32_t i = 0; i < filled; ++i) {
        multiply_pixel(&layer, panel + i, pixel);
        pixel += p->out_pixel_stride;
    }
    cortexm_clamp_image(p, results);
}
