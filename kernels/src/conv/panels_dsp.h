/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of several pixels beside each other, as conv2d of codes multiplies them, DSP. */
#ifndef CORTEXM_CONV_PANELS_DSP_H
#define CORTEXM_CONV_PANELS_DSP_H

#include "common/products_dsp.h"
#include "common/stamp.h"
#include "common/taps.h"

/* The windows of PANEL pixels are a panel of 16-bit values in scratch, words [k / 2][pixel]. */

#if CODE_BITS == 16

/* Four inputs of a pixel. */
static inline void cortexm_panel_quad(cortexm_word_t *word, const int16_t *from)
{
    word[0] = cortexm_load2(from);
    word[PANEL] = cortexm_load2(from + 2);
}

/* Where the next input of a pixel goes in its panel: the other half of the word, or the lower half
 * of the pixel's next word. */
static int16_t *cortexm_panel_next(int16_t *to)
{
    return to + (((uintptr_t)to & 2u) != 0u ? 2 * PANEL - 1 : 1);
}

static int16_t *cortexm_panel_codes(int16_t *to, const int16_t *from, int32_t n)
{
    if (n > 0 && ((uintptr_t)to & 2u) != 0u) {
        *to = *from++;
        to += 2 * PANEL - 1;
        --n;
    }
    for (; n >= 4; n -= 4) {
        cortexm_panel_quad((cortexm_word_t *)(void *)to, from);
        from += 4;
        to += 4 * PANEL;
    }
    for (; n > 0; --n) {
        *to = *from++;
        to = cortexm_panel_next(to);
    }
    return to;
}

static int16_t *cortexm_panel_padding(int16_t *to, int32_t n)
{
    for (; n > 0; --n) {
        *to = 0;
        to = cortexm_panel_next(to);
    }
    return to;
}

/* The window whose first tap is at (y, x) of the image. */
static void cortexm_panel_window(const PARAMS *p, const int16_t *in, int32_t y, int32_t x,
                       cortexm_word_t *panel)
{
    const int32_t channels = p->in_c;
    const int32_t is_inside = x >= 0 && y >= 0 &&
                              x + (p->kernel_w - 1) * p->dilation_w < p->in_w &&
                              y + (p->kernel_h - 1) * p->dilation_h < p->in_h;
    const cortexm_taps_t cols = cortexm_taps_inside(x, p->dilation_w, p->kernel_w, p->in_w);
    const int16_t *row = in + y * p->in_row_stride + (x + cols.begin * p->dilation_w) * channels;
    int16_t *to = (int16_t *)(void *)panel;

    if (is_inside && p->dilation_w == 1) {
        const int32_t length = p->kernel_w * channels;

        for (int32_t ky = p->kernel_h; ky > 0; --ky) {
            to = cortexm_panel_codes(to, row, length);
            row += p->dilation_h * p->in_row_stride;
        }
        return;
    }
    for (int32_t ky = p->kernel_h; ky > 0; --ky) {
        if (y < 0 || y >= p->in_h) {
            to = cortexm_panel_padding(to, p->kernel_w * channels);
        } else {
            to = cortexm_panel_padding(to, cols.begin * channels);
            if (p->dilation_w == 1) {
                to = cortexm_panel_codes(to, row, cortexm_taps_count(cols) * channels);
            } else {
                const int16_t *tap = row;

                for (int32_t kx = cols.begin; kx < cols.end; ++kx) {
                    to = cortexm_panel_codes(to, tap, channels);
                    tap += p->dilation_w * channels;
                }
            }
            to = cortexm_panel_padding(to, (p->kernel_w - cols.end) * channels);
        }
        y += p->dilation_h;
        row += p->dilation_h * p->in_row_stride;
    }
}

#endif

#endif
