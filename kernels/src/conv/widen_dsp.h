/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of int8 codes, widened into a panel, DSP. */
#ifndef CORTEXM_CONV_WIDEN_DSP_H
#define CORTEXM_CONV_WIDEN_DSP_H

#include "common/stamp.h"
#include "cortexm/kernels.h"

/* What all pixels share. */
typedef struct {
    const PARAMS *p;
    const cortexm_word_t *weight;
    const int32_t *bias;        /* or what conv2d_2x4 has in its place */
    int8_t *bytes;              /* a window as bytes, where its pixels are no fours of channels */
    int32_t quads;              /* fours of inputs of a window */
    int32_t pair;               /* words of two channels' weights */
    int32_t next;               /* from one row of a window to the next */
} layer_t;

/* Four codes to two words of a panel. */
#if defined IS_SYMMETRIC
#define WIDEN                                                                                      \
    "ldr    %[odd], [%[from]], #4\n\t"                                                             \
    "sxtb16 %[even], %[odd]\n\t"                                                                   \
    "sxtb16 %[odd], %[odd], ror #8\n\t"
#define PUT_WORDS(to)                                                                              \
    "str    %[even], [%[" to "]], #8 * " CORTEXM_QUOTE(PANEL) "\n\t"                               \
    "str    %[odd], [%[" to "], #-4 * " CORTEXM_QUOTE(PANEL) "]\n\t"
#define PUT_QUAD WIDEN PUT_WORDS("to")
#elif WEIGHT_BITS == 8
#define PUT_QUAD                                                                                   \
    "ldr    %[odd], [%[from]], #4\n\t"                                                             \
    "sxtb16 %[even], %[odd]\n\t"                                                                   \
    "sxtb16 %[odd], %[odd], ror #8\n\t"                                                            \
    "smlad  %[start], %[even], %[offsets], %[start]\n\t"                                           \
    "str    %[even], [%[to]], #24\n\t"                                                             \
    "smlad  %[start], %[odd], %[offsets], %[start]\n\t"                                            \
    "str    %[odd], [%[to], #-12]\n\t"
#else
#define PUT_QUAD                                                                                   \
    "ldr    %[odd], [%[from]], #4\n\t"                                                             \
    "sxtb16 %[even], %[odd]\n\t"                                                                   \
    "sxtb16 %[odd], %[odd], ror #8\n\t"                                                            \
    "pkhbt  %[pair], %[even], %[odd], lsl #16\n\t"                                                 \
    "smlad  %[start], %[even], %[offsets], %[start]\n\t"                                           \
    "str    %[pair], [%[to]], #24\n\t"                                                             \
    "pkhtb  %[pair], %[odd], %[even], asr #16\n\t"                                                 \
    "smlad  %[start], %[odd], %[offsets], %[start]\n\t"                                            \
    "str    %[pair], [%[to], #-12]\n\t"
#endif

/* Rows of n codes, a multiple of four, `next` apart, to n / 2 words of a pixel each; returns -X. */
static CORTEXM_APART CORTEXM_UNCLONED START_OF put_quads(cortexm_word_t *to, const int8_t *from,
                                                         int32_t n, int32_t rows, int32_t next)
{
    int32_t start = 0;

    for (; rows > 0; --rows) {
        const int8_t *const end = from + n;

        uint32_t even, odd, pair;

        /* In assembly, as GCC counts the places of both words apart. An odd four begins in the middle. */
        __asm__ volatile("lsls   %[pair], %[n], #29\n\t"
                         "bmi    2f\n\t"
                         "1:\n\t" PUT_QUAD
                         "2:\n\t" PUT_QUAD
                         "cmp    %[from], %[end]\n\t"
                         "bne    1b\n\t"
                         : [from] "+r"(from), [to] "+r"(to), [start] "+r"(start),
                           [even] "=&r"(even), [odd] "=&r"(odd), [pair] "=&r"(pair)
                         : [offsets] "r"(CORTEXM_MINUS_OFFSETS), [n] "r"(n), [end] "r"(end)
                         : "cc", "memory");
        from += next - n;
    }
    RETURN_START(start);
}

/* Rows of n codes, which lie `step` bytes apart: 1, or 0 for four times the same one, or any of less than four
 * codes. From one row to the next there are `next_to` and `next` bytes. */
static CORTEXM_APART CORTEXM_UNCLONED void put_bytes(int8_t *to, const int8_t *from, int32_t n, int32_t step,
                                                     int32_t rows, int32_t next_to, int32_t next)
{
    const int32_t gap_to = next_to - n;
    const int32_t gap = next - n * step;

    for (; rows > 0; --rows) {
        int32_t left;
        uint32_t codes;

        __asm__ volatile("subs   %[left], %[n], #4\n\t"
                         "blt    2f\n\t"
                         "1:\n\t"
                         "ldr    %[codes], [%[from]]\n\t"
                         "add    %[from], %[from], %[step], lsl #2\n\t"
                         "str    %[codes], [%[to]], #4\n\t"
                         "subs   %[left], #4\n\t"
                         "bge    1b\n\t"
                         "2:\n\t"
                         "adds   %[left], #4\n\t"
                         "beq    4f\n\t"
                         "3:\n\t"
                         "ldrb   %[codes], [%[from]]\n\t"
                         "add    %[from], %[step]\n\t"
                         "strb   %[codes], [%[to]], #1\n\t"
                         "subs   %[left], #1\n\t"
                         "bne    3b\n\t"
                         "4:\n\t"
                         : [to] "+r"(to), [from] "+r"(from), [left] "=&r"(left), [codes] "=&r"(codes)
                         : [n] "r"(n), [step] "r"(step)
                         : "cc", "memory");
        to += gap_to;
        from += gap;
    }
}

/* A window inside of the image. */
static CORTEXM_APART START_OF put_inside(const layer_t *l, const int8_t *row, cortexm_word_t *to)
{
    const int32_t codes = l->p->kernel_w * l->p->in_c;

    if (codes % 4 == 0) {
        RETURN_START(put_quads(to, row, codes, l->p->kernel_h, l->next));
    }
    put_bytes(l->bytes, row, codes, 1, l->p->kernel_h, codes, l->next);
    RETURN_START(put_quads(to, l->bytes, 4 * l->quads, 1, 0));
}

/* Any window; its first tap is at (y, x) of the image, where `row` points. */
static CORTEXM_APART START_OF put_window(const layer_t *l, const int8_t *row, int32_t y, int32_t x,
                                         cortexm_word_t *to)
{
    const PARAMS *const p = l->p;
    const uint32_t padding = (uint32_t)(uint8_t)p->in_zero_point * UINT32_C(0x01010101);
    const int32_t channels = p->in_c;
    const int32_t dilation = p->dilation_w;
    const int32_t next_tap = dilation * channels;
    /* Taps in the image that are put at once: put_bytes takes less than four codes one by one. */
    const int32_t are_joined = dilation == 1 || (channels == 1 && p->kernel_w < 4);
    const int32_t beside = channels == 1 ? next_tap : 1;
    int32_t start = 0;
    const cortexm_taps_t columns = cortexm_taps_divided(x, dilation, p->kernel_w, p->in_w);
    const int32_t inside = cortexm_taps_count(columns);
    const int32_t run = are_joined ? inside : 1;

    row += columns.begin * next_tap;
    if (l->bytes != NULL) { /* padding first, of which the taps in the image take the place */
        const int32_t codes = p->kernel_w * channels;
        const cortexm_taps_t rows = cortexm_taps_divided(y, p->dilation_h, p->kernel_h, p->in_h);
        int8_t *byte = l->bytes + (rows.begin * p->kernel_w + columns.begin) * channels;

        put_bytes(l->bytes, (const int8_t *)(const void *)&padding, p->kernel_h * codes, 0, 1, 0, 0);
        row += rows.begin * l->next;
        for (int32_t taps = inside; taps != 0; taps -= run) {
            put_bytes(byte, row, run * channels, beside, cortexm_taps_count(rows), codes, l->next);
            byte += channels;
            row += next_tap;
        }
        RETURN_START(put_quads(to, l->bytes, 4 * l->quads, 1, 0));
    }
    for (int32_t ky = p->kernel_h; ky > 0; --ky) {
        const int8_t *from = row;
        int32_t taps = (uint32_t)y < p->in_h ? inside : 0;
        int32_t padded = taps > 0 ? columns.begin : p->kernel_w;

        for (;;) {
            const uint32_t pair = cortexm_sxtb16(padding);

            for (int32_t n = padded * channels; n != 0; n -= 4) {
                *to = pair;
                to[PANEL] = pair;
                to += 2 * PANEL;
                __asm__ volatile("" : "+r"(to)); /* GCC would compute its end by a division */
            }
            KEEP_START(start -=, CORTEXM_OFFSET * p->in_zero_point * padded * channels);
            if (taps == 0) {
                break;
            }
            for (; taps != 0; taps -= run) {
                KEEP_START(start +=, put_quads(to, from, run * channels, 1, 0));
                to += (run * channels >> 1) * PANEL;
                from += next_tap;
            }
            padded = p->kernel_w - columns.end;
        }
        y += p->dilation_h;
        row += l->next;
    }
    RETURN_START(start);
}

#endif
