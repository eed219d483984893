/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of an image with the codes of a channel side by side, for depthwise_conv2d, DSP. */
#ifndef CORTEXM_CONV_SORTED_ROWS_DSP_H
#define CORTEXM_CONV_SORTED_ROWS_DSP_H

#include "common/dsp.h"
#include "common/stamp.h"
#include "cortexm/kernels.h"

/* The codes of four channels of a pixel; those of padding. */
#if CODE_BITS == 8
typedef uint32_t four_t;

static inline four_t load(const int8_t *from)
{
    return cortexm_load4(from);
}

static inline four_t padding_of(const PARAMS *p)
{
    return (uint32_t)(uint8_t)p->in_zero_point * UINT32_C(0x01010101);
}

static inline place_t place_of(const axis_t *x)
{
    const int32_t pairs = pairs_of(x);
    const int32_t left = cortexm_max(-x->first, 0); /* pixels left of the image */
    const int32_t right = x->in_size - cortexm_max(x->first, 0);
    const int32_t begin = cortexm_min(left / 2, pairs);
    const int32_t is_split = left & 1;
    const int32_t pixels = cortexm_min(right, 2 * (pairs - begin) - is_split) - is_split;
    const int32_t inside = begin + is_split + pixels / 2;
    const place_t none = {0, 0, 0, 0};
    const place_t place = {begin * PITCH, inside * PITCH, (inside + (pixels & 1)) * PITCH, is_split};

    return pixels < 0 ? none : place;
}

/* Pairs of pixels beside the image; all of a band that stays where it is. */
static inline void pad_band(const image_t *image, cortexm_word_t *band)
{
    const cortexm_word_t padding = cortexm_sxtb16(padding_of(image->p));
    const int32_t begin = is_one_band(&image->y) ? image->place.end : image->place.begin;

    for (int32_t i = 0; i < begin; ++i) {
        band[i] = padding;
    }
    for (int32_t i = image->place.end; i < image->row_words + PITCH; ++i) {
        band[i] = padding;
    }
}

/* So many rows of the image from y on to rows of the band. Where that is all there is, padding above and
 * below is in its place. */
static CORTEXM_APART void sort_rows(const image_t *image, int32_t y, int32_t rows, cortexm_word_t *to)
{
    const int8_t *in = image->in;
    const four_t padding = padding_of(image->p);
    const place_t place = image->place;

    if (place.begin == place.end) {
        return;
    }
    if (is_one_band(&image->y)) {
        const int32_t first = cortexm_max(y, 0);

        rows = cortexm_min(y + rows, image->y.in_size) - first;
        to += first - y;
        y = first;
    }
    in += y * image->y.in_step + cortexm_max(image->x.first, 0) * image->x.in_step;
    to += place.begin;
    for (; rows > 0; --rows) {
        const int32_t is_image = (uint32_t)y < (uint32_t)image->y.in_size;
        cortexm_word_t *const end = to + (place.end - place.begin);
        const cortexm_word_t *inside = is_image ? to + (place.inside - place.begin) : end;
        const int8_t *from = is_image ? in : (const int8_t *)(const void *)&padding;
        const int32_t step = is_image ? image->x.in_step : 0;
        uint32_t first, second, both;

        /* In assembly, as GCC takes twice as many instructions. */
        __asm__ volatile(
            "cmp    %[is_split], #0\n\t"
            "bne    5f\n\t"
            "1:\n\t"
            "cmp    %[to], %[inside]\n\t"
            "beq    4f\n\t"
            "2:\n\t"
            "ldr    %[first], [%[from]]\n\t"
            "ldr    %[second], [%[from], %[step]]\n\t"
            "add    %[from], %[from], %[step], lsl #1\n\t"
            "3:\n\t"
            "pkhbt  %[both], %[first], %[second], lsl #16\n\t"
            "pkhtb  %[second], %[second], %[first], asr #16\n\t"
            "sxtb16 %[first], %[both]\n\t"
            "sxtb16 %[both], %[both], ror #8\n\t"
            "str    %[first], [%[to]], #144\n\t"
            "str    %[both], [%[to], #-108]\n\t"
            "sxtb16 %[first], %[second]\n\t"
            "sxtb16 %[second], %[second], ror #8\n\t"
            "str    %[first], [%[to], #-72]\n\t"
            "str    %[second], [%[to], #-36]\n\t"
            "cmp    %[to], %[inside]\n\t"
            "bne    2b\n\t"
            "4:\n\t"
            "cmp    %[to], %[end]\n\t"
            "beq    6f\n\t"
            "ldr    %[first], [%[from]]\n\t"
            "mov    %[second], %[padding]\n\t"
            "mov    %[inside], %[end]\n\t"
            "b      3b\n\t"
            "5:\n\t"
            "mov    %[first], %[padding]\n\t"
            "ldr    %[second], [%[from]]\n\t"
            "add    %[from], %[step]\n\t"
            "b      3b\n\t"
            "6:\n\t"
            : [to] "+r"(to), [from] "+r"(from), [inside] "+r"(inside), [first] "=&r"(first),
              [second] "=&r"(second), [both] "=&r"(both)
            : [end] "r"(end), [step] "r"(step), [padding] "r"(padding),
              [is_split] "r"(place.is_split)
            : "cc", "memory");
        to -= place.end - place.begin - 1;
        in += image->y.in_step;
        ++y;
    }
}
#else
typedef struct {
    uint32_t lower, upper;
} four_t;

static inline four_t load(const int16_t *from)
{
    const four_t codes = {cortexm_load2(from), cortexm_load2(from + 2)};

    return codes;
}

static inline four_t padding_of(const PARAMS *p)
{
    const four_t zeros = {0, 0};

    (void)p;
    return zeros;
}

static inline void sort_pair(four_t first, four_t second, cortexm_word_t *to)
{
    to[0] = cortexm_lower_halves(first.lower, second.lower);
    to[BAND] = cortexm_upper_halves(first.lower, second.lower);
    to[2 * BAND] = cortexm_lower_halves(first.upper, second.upper);
    to[3 * BAND] = cortexm_upper_halves(first.upper, second.upper);
}
/* So many rows of the image from y on to rows of the band. */
static CORTEXM_APART void sort_rows(const image_t *image, int32_t y, int32_t rows, cortexm_word_t *to)
{
    const ELEMENT *in = image->in;
    const four_t padding = padding_of(image->p);
    /* Copies, as words of the band might be members. */
    const axis_t across = image->x;
    const axis_t down = image->y;
    const int32_t step = across.in_step;
    const int32_t words = image->row_words + PITCH;

    in += y * down.in_step + across.first * step;
    for (; rows > 0; --rows) {
        const uint32_t in_w = y >= 0 && y < down.in_size ? (uint32_t)across.in_size : 0u;
        cortexm_word_t *const end = to + words;
        uint32_t x = (uint32_t)across.first; /* left of the image: beyond its width */
        const ELEMENT *from = in;

        do {
            four_t first = padding;
            four_t second = padding;

            if (x < in_w) {
                first = load(from);
            }
            from += step;
            if (x + 1u < in_w) {
                second = load(from);
            }
            from += step;
            x += 2u;
            sort_pair(first, second, to);
            to += PITCH;
        } while (to != end);
        to -= words - 1;
        in += down.in_step;
        ++y;
    }
}
#endif

#endif
