/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_conv2d, int8, DSP instructions: 3x3 taps, stride 1 or 2. See kernels/README.md for the formula.
 *
 * Four channels at a time. Nine rows of the image, padding included, are widened to 16 bits and
 * sorted by channel into a band in scratch, words [pair of pixels][row][channel]. So one word holds
 * two neighbouring pixels of a channel, and one multiplication serves two taps. Weights are packed as
 * "window_rows" (plan/kernels/packing.py), [channel][9]; they are read by fours, so one byte follows. */
#if !defined(__ARM_FEATURE_DSP)
#error "depthwise_conv2d_s8_dsp.c needs the DSP extension"
#endif

#include "common/dsp.h"
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

#define CHANNELS 4
#define TAPS 3
#define BAND 9                  /* rows of the image */
#define PITCH (BAND * CHANNELS) /* words from one pair of pixels to the next */

/* Two neighbouring pixels to their words of the four channels. */
static void sort_pair(uint32_t first, uint32_t second, cortexm_word_t *to)
{
    const uint32_t first_even = cortexm_sxtb16(first);
    const uint32_t first_odd = cortexm_sxtb16_ror8(first);
    const uint32_t second_even = cortexm_sxtb16(second);
    const uint32_t second_odd = cortexm_sxtb16_ror8(second);

    to[0] = cortexm_lower_halves(first_even, second_even);
    to[1] = cortexm_lower_halves(first_odd, second_odd);
    to[2] = cortexm_upper_halves(first_even, second_even);
    to[3] = cortexm_upper_halves(first_odd, second_odd);
}

/* Row y of the image, so many pairs of pixels, to a row of the band. */
static void sort_row(const cortexm_conv_s8_t *p, const int8_t *in, int32_t y, int32_t pairs,
                     cortexm_word_t *to)
{
    const uint32_t padding = (uint32_t)(uint8_t)p->in_zero_point * UINT32_C(0x01010101);
    const uint32_t in_w = y >= 0 && y < p->in_h ? (uint32_t)p->in_w : 0u;
    const int32_t channels = p->in_c;
    uint32_t x = (uint32_t)p->in_x0; /* left of the image: beyond its width */
    const int8_t *from = in + y * p->in_row_stride + p->in_x0 * channels;

    for (; pairs > 0; --pairs) {
        uint32_t first = padding;
        uint32_t second = padding;

        if (x < in_w) {
            first = cortexm_load4(from);
        }
        if (x + 1u < in_w) {
            second = cortexm_load4(from + channels);
        }
        sort_pair(first, second, to);
        from += 2 * channels;
        x += 2u;
        to += PITCH;
    }
}

/* One channel of some rows of outputs. The assembly below knows the places of the members. */
typedef struct {
    const cortexm_word_t *x;    /* the first row in the band */
    int8_t *out;                /* the first output */
    int32_t out_pixel_stride;
    int32_t twice_bias;
    int32_t multiplier;
    int32_t n_minus_one;
    int32_t twice_zero_point_plus_one;
    int32_t bytes_in_twos;      /* of the band, for the outputs of a row computed in twos */
    int32_t bytes_of_rest;      /* and for the others */
    int32_t row_bytes;          /* of the band, between rows of outputs */
    int32_t out_row_stride;
    int32_t rows;
    uint32_t taps[2 * TAPS];    /* of each row of the window twice (w0, w1) and (w1, w2) */
    const void *end[2];
} channel_t;

/* One row of the window at offset `row` of a pair; w and v are its taps. Pixels 0 and 1 are in the
 * word there, 2 and 3 in the next pair's: r1 sums the window of 0 to 2, r2 that of 1 to 3. */
#define LOAD_ROW(row, next)                                                                        \
    "ldr    r3, [r0, #" row "]\n"                                                                  \
    "ldr    lr, [r0, #" next "]\n"
#define MULTIPLY_FIRST(w, v)                                                                       \
    "smlad  r1, r3, " w ", r1\n"                                                                   \
    "smlabt r1, lr, " v ", r1\n"
#define MULTIPLY_SECOND(w, v)                                                                      \
    "smlatb r2, r3, " w ", r2\n"                                                                   \
    "smlad  r2, lr, " v ", r2\n"

/* The rows of one channel; cortexm_narrow_code says what is done with the sums. */
__attribute__((naked, noinline)) static void channel_codes(channel_t *channel)
{
    (void)channel;
    __asm__ volatile(
        "push   {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
        "mov    r12, r0\n"
        "add    r3, r12, #48\n"
        "ldmia  r3, {r4, r5, r6, r7, r8, r9}\n"
        "ldr    r11, [r12, #8]\n"
        "1:\n"
        "ldrd   r0, r10, [r12]\n"
        "ldrd   r1, r2, [r12, #28]\n"
        "add    r3, r0, r1\n"
        "add    r2, r3\n"
        "strd   r3, r2, [r12, #72]\n"
        "cmp    r0, r3\n"
        "beq    3f\n"
        "2:\n"
        "ldr    r1, [r12, #12]\n"
        LOAD_ROW("0", "144")
        "mov    r2, r1\n"
        MULTIPLY_FIRST("r4", "r5") MULTIPLY_SECOND("r4", "r5")
        LOAD_ROW("16", "160") MULTIPLY_FIRST("r6", "r7") MULTIPLY_SECOND("r6", "r7")
        LOAD_ROW("32", "176") MULTIPLY_FIRST("r8", "r9") MULTIPLY_SECOND("r8", "r9")
        "ldrd   r3, lr, [r12, #16]\n"
        "smmulr r1, r1, r3\n"
        "smmulr r2, r2, r3\n"
        "ldr    r3, [r12, #24]\n"
        "add    r1, r1, r1, asr #31\n"
        "add    r2, r2, r2, asr #31\n"
        "asr    r1, r1, lr\n"
        "asr    r2, r2, lr\n"
        "add    r1, r3\n"
        "add    r2, r3\n"
        "ldr    r3, [r12, #72]\n"
        "ssat   r1, #8, r1, asr #1\n"
        "ssat   r2, #8, r2, asr #1\n"
        "strb   r1, [r10]\n"
        "strb   r2, [r10, r11]\n"
        "add    r10, r10, r11, lsl #1\n"
        "add    r0, #144\n"
        "cmp    r0, r3\n"
        "bne    2b\n"
        "3:\n"
        "ldr    r3, [r12, #76]\n"
        "cmp    r0, r3\n"
        "beq    5f\n"
        "4:\n"
        "ldr    r1, [r12, #12]\n"
        LOAD_ROW("0", "144") MULTIPLY_FIRST("r4", "r5")
        LOAD_ROW("16", "160") MULTIPLY_FIRST("r6", "r7")
        LOAD_ROW("32", "176") MULTIPLY_FIRST("r8", "r9")
        "ldrd   r3, lr, [r12, #16]\n"
        "smmulr r1, r1, r3\n"
        "ldr    r3, [r12, #24]\n"
        "add    r1, r1, r1, asr #31\n"
        "asr    r1, r1, lr\n"
        "add    r1, r3\n"
        "ldr    r3, [r12, #76]\n"
        "ssat   r1, #8, r1, asr #1\n"
        "strb   r1, [r10]\n"
        "add    r10, r11\n"
        "add    r0, #144\n"
        "cmp    r0, r3\n"
        "bne    4b\n"
        "5:\n"
        "ldrd   r0, r10, [r12]\n"
        "ldrd   r1, r2, [r12, #36]\n"
        "ldr    r3, [r12, #44]\n"
        "add    r0, r1\n"
        "add    r10, r2\n"
        "strd   r0, r10, [r12]\n"
        "subs   r3, #1\n"
        "str    r3, [r12, #44]\n"
        "bne    1b\n"
        "pop    {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

/* Four channels of one image, which `in` and `out` point to. */
static void block(const cortexm_conv_s8_t *p, int32_t channel, const int8_t *in,
                  const int8_t *weight, const int32_t *bias, int8_t *out, cortexm_word_t *band)
{
    const int32_t twos = p->stride_w == 1 ? p->out_w / 2 : 0;
    const int32_t rest = p->out_w - 2 * twos;
    const int32_t pairs = twos + rest + 1;
    const int32_t kept = cortexm_max(TAPS - p->stride_h, 0);
    const int32_t out_row = p->out_w * p->out_pixel_stride;
    int32_t y = p->in_y0;
    int32_t filled = 0; /* rows of the band that are there already */
    int32_t rows = 1;   /* of outputs, per band */
    channel_t all = {.out_pixel_stride = p->out_pixel_stride,
                     .twice_zero_point_plus_one = 2 * p->out_zero_point + 1,
                     .bytes_in_twos = twos * PITCH * 4,
                     .bytes_of_rest = rest * PITCH * 4,
                     .row_bytes = p->stride_h * CHANNELS * 4,
                     .out_row_stride = out_row};

    while (rows * p->stride_h + TAPS <= BAND) {
        ++rows;
    }
    for (int32_t left = p->out_h; left > 0; left -= rows) {
        rows = cortexm_min(rows, left);
        for (const int32_t needed = (rows - 1) * p->stride_h + TAPS; filled < needed; ++filled) {
            sort_row(p, in, y + filled, pairs, band + filled * CHANNELS);
        }
        for (int32_t c = 0; c < CHANNELS; ++c) {
            const int8_t *const w = weight + TAPS * TAPS * c;

            all.x = band + c;
            all.out = out + c;
            all.twice_bias = 2 * bias[c];
            all.multiplier = p->multiplier[channel + c];
            all.n_minus_one = -1 - p->shift[channel + c];
            all.rows = rows;
            for (int32_t ky = 0; ky < TAPS; ++ky) {
                const uint32_t codes = cortexm_load4(w + TAPS * ky);
                const uint32_t even = cortexm_sxtb16(codes);      /* w0, w2 */
                const uint32_t odd = cortexm_sxtb16_ror8(codes);  /* w1, and a byte too much */
                const uint32_t first = cortexm_lower_halves(even, odd);
                const uint32_t second = cortexm_halves(odd, even);

                all.taps[2 * ky] = cortexm_sadd16(first, first);
                all.taps[2 * ky + 1] = cortexm_sadd16(second, second);
            }
            channel_codes(&all);
        }
        /* The last rows are the first ones of the next band. */
        for (int32_t i = 0; i < pairs * PITCH; i += PITCH) {
            for (int32_t word = 0; word < kept * CHANNELS; ++word) {
                band[i + word] = band[i + rows * p->stride_h * CHANNELS + word];
            }
        }
        filled = kept;
        y += rows * p->stride_h;
        out += rows * out_row;
    }
}

void cortexm_depthwise_conv2d_s8_dsp(const cortexm_conv_s8_t *params, const int8_t *in,
                                     const int8_t *weight, const int32_t *bias, int8_t *out,
                                     void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    int8_t *const results = out;

    CORTEXM_ASSERT(p->in_c == p->out_c && p->out_c % CHANNELS == 0);
    CORTEXM_ASSERT(p->kernel_h == TAPS && p->kernel_w == TAPS);
    CORTEXM_ASSERT(p->dilation_h == 1 && p->dilation_w == 1);
    CORTEXM_ASSERT(p->stride_h <= TAPS && p->stride_w <= 2 && p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);

    for (int32_t c = 0; c < p->out_c; c += CHANNELS) {
        block(p, c, in + c, weight + TAPS * TAPS * c, bias + c, out + c, scratch);
    }
    cortexm_clamp_image(p, results);
}
