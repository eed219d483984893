/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_conv2d, int8, portable C. See kernels/README.md for the formula.
 *
 * A window is a table with a pointer per tap: into the image, or to a pixel of padding. So the inner
 * loops know nothing of borders, strides and dilation. Windows inside the image share the table of
 * the first one and differ by an offset; three pixels are computed together. */
#include <stdint.h>

#include "common/apart.h"
#include "common/codes.h"
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* Sums over the taps of a depthwise window, of four channels at a time. Weights are packed as
 * "tap_fours" (python/cortexm_tools/plan/kernels/packing.py): [channel / 4][tap][4], and [tap][rest] for those that
 * are left. */

/* sum[i] = bias[i] + sum over the taps of tap[channel + i] * w[i]. There is at least one tap. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
/* Only loads with two registers extend the sign. So the weights' pointer is kept `channel` below the
 * weights, and the indices channel to channel + 2 serve both. */
__attribute__((naked, noinline, unused)) static void
cortexm_tap_fours(const int8_t *const *tap, const int8_t *const *end, int32_t channel,
                  const int8_t *w, const int32_t bias[4], int32_t sum[4])
{
    (void)tap;
    (void)end;
    (void)channel;
    (void)w;
    (void)bias;
    (void)sum;
#define PRODUCT(index, sum)                                                                        \
    "ldrsb r2, [r3, " index "]\n"                                                                  \
    "ldrsb r7, [r1, " index "]\n"                                                                  \
    "muls r2, r7\n"                                                                                \
    "add  " sum ", r2\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "push {r4, r5, r6, r7}\n"
                     "mov  r12, r1\n" /* the end */
                     "ldr  r1, [sp, #36]\n"
                     "ldmia r1!, {r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "subs r1, r3, r2\n"
                     "movs r4, r2\n"
                     "adds r5, r2, #1\n"
                     "adds r6, r2, #2\n"
                     "1:\n"
                     "ldmia r0!, {r3}\n"
                     PRODUCT("r4", "r8") PRODUCT("r5", "r9") PRODUCT("r6", "r10")
                     "adds r3, #1\n"
                     "adds r1, #1\n"
                     PRODUCT("r6", "r11")
                     "adds r1, #3\n"
                     "cmp  r0, r12\n"
                     "bne  1b\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "ldr  r2, [sp, #40]\n"
                     "stmia r2!, {r4, r5, r6, r7}\n"
                     "pop  {r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef PRODUCT
}
#else
static CORTEXM_APART void cortexm_tap_fours(const int8_t *const *tap, const int8_t *const *end,
                                            int32_t channel, const int8_t *w,
                                            const int32_t bias[4], int32_t sum[4])
{
    int32_t sum0 = bias[0];
    int32_t sum1 = bias[1];
    int32_t sum2 = bias[2];
    int32_t sum3 = bias[3];

    do {
        const int8_t *const x = *tap++ + channel;

        sum0 += x[0] * w[0];
        sum1 += x[1] * w[1];
        sum2 += x[2] * w[2];
        sum3 += x[3] * w[3];
        w += 4;
    } while (tap != end);
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}
#endif

/* An output pixel and where its window is: input channel c of a tap is (*tap)[offset + c]. */
typedef struct {
    const int8_t *const *taps;
    int32_t offset;
    int8_t *out;
} pixel_t;

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

/* Three pixels with an output per input channel, four at a time; w is [channel / 4][tap][4]. */
static void pixels_of_fours(const cortexm_codes_t *codes, int32_t channels, int32_t tap_count,
                            const pixel_t pixel[3], const int8_t *w, const int32_t *bias)
{
    int8_t *const out[3] = {pixel[0].out, pixel[1].out, pixel[2].out};

    for (int32_t o = 0; o < channels; o += 4) {
        int32_t sum[12];

        for (int32_t i = 0; i < 3; ++i) {
            cortexm_tap_fours(pixel[i].taps, pixel[i].taps + tap_count, pixel[i].offset + o, w,
                              bias + o, sum + 4 * i);
        }
        cortexm_put_codes(codes, o, 4, sum, 3, out);
        w += 4 * tap_count;
    }
}

/* One pixel from output channel `o` on; w is [tap][rest] for those that are left of fours. */
static void one_pixel(const cortexm_codes_t *codes, int32_t o, int32_t channels,
                      int32_t multiple, int32_t tap_count, const pixel_t *pixel,
                      const int8_t *weight, const int32_t *bias)
{
    const int8_t *const *const taps_end = pixel->taps + tap_count;
    int32_t of_this_input = multiple; /* outputs that still read this input channel */
    int32_t channel = pixel->offset + o; /* o is 0 where outputs are more than inputs */

    for (; o < channels; ++o) {
        const int8_t *w = weight + (o & ~3) * tap_count + (o & 3);
        const int32_t step = cortexm_min(4, channels - (o & ~3));
        int32_t sum = bias[o];

        for (const int8_t *const *tap = pixel->taps; tap != taps_end; ++tap) {
            sum += (*tap)[channel] * *w;
            w += step;
        }
        pixel->out[o] = cortexm_code(codes, o, sum);
        if (--of_this_input == 0) {
            of_this_input = multiple;
            ++channel;
        }
    }
}

static void three_pixels(const cortexm_conv_s8_t *p, const cortexm_codes_t *codes,
                         const pixel_t pixel[3], const int8_t *weight, const int32_t *bias)
{
    const int32_t tap_count = p->kernel_h * p->kernel_w;
    const int32_t multiple = p->in_c == p->out_c ? 1 : p->out_c / p->in_c;
    const int32_t fours = multiple == 1 ? p->out_c & ~3 : 0;

    pixels_of_fours(codes, fours, tap_count, pixel, weight, bias);
    for (int32_t i = 0; i < 3 && fours != p->out_c; ++i) {
        one_pixel(codes, fours, p->out_c, multiple, tap_count, pixel + i, weight, bias);
    }
}

void cortexm_depthwise_conv2d_s8_scalar(const cortexm_conv_s8_t *params, const int8_t *in,
                                        const int8_t *weight, const int32_t *bias, int8_t *out,
                                        void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t tap_count = p->kernel_h * p->kernel_w;
    const int32_t last_y = p->in_h - 1 - (p->kernel_h - 1) * p->dilation_h;
    const int32_t last_x = p->in_w - 1 - (p->kernel_w - 1) * p->dilation_w;
    const int8_t **const first_taps = scratch;
    const int8_t **const border_taps = first_taps + tap_count;
    const cortexm_codes_t codes = cortexm_codes(p->multiplier, p->shift, p->out_c,
                                                p->out_zero_point, p->act_min, p->act_max);
    int8_t *const padding = (int8_t *)(void *)(border_taps + 3 * tap_count);
    pixel_t pixel[3];
    int8_t *out_pixel = out;
    int32_t waiting = 0; /* pixels that wait for a third one */

    CORTEXM_ASSERT(p->in_c > 0 && p->out_c % p->in_c == 0);
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);

    for (int32_t c = 0; c < p->in_c; ++c) {
        padding[c] = p->in_zero_point;
    }
    find_taps(p, in, 0, 0, padding, first_taps);
    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        int32_t x = p->in_x0;

        for (int32_t ox = 0; ox < p->out_w; ++ox) {
            pixel_t *const next = pixel + waiting;

            next->out = out_pixel;
            if (y >= 0 && y <= last_y && x >= 0 && x <= last_x) {
                next->taps = first_taps;
                next->offset = y * p->in_row_stride + x * p->in_c;
            } else {
                next->taps = border_taps + waiting * tap_count;
                next->offset = 0;
                find_taps(p, in, y, x, padding, border_taps + waiting * tap_count);
            }
            out_pixel += p->out_pixel_stride;
            x += p->stride_w;
            if (++waiting == 3) {
                three_pixels(p, &codes, pixel, weight, bias);
                waiting = 0;
            }
        }
    }
    if (waiting != 0) {
        /* The last pixel again in the places that are left: it is written with the same codes. */
        while (waiting < 3) {
            pixel[waiting] = pixel[waiting - 1];
            ++waiting;
        }
        three_pixels(p, &codes, pixel, weight, bias);
    }
}
