/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d, int8, MVE: one output channel for each of at least eight input channels. See
 * kernels/README.md for the formula.
 *
 * Two pixels and eight channels at a time. A table in scratch points to every tap of both pixels;
 * taps in the padding point to a pixel of zero points, so that borders are nothing special. Products
 * are made of 16-bit lanes in even and odd halves, and VLD2 brings biases and multipliers into the same
 * order. Weights are packed as "depthwise8" (plan/kernels/packing.py), [chunk][tap][8]. Where channels are no
 * multiple of eight the last chunk holds the last eight, some of them for the second time.
 */
#if !defined(__ARM_FEATURE_MVE)
#error "depthwise_conv2d_s8_mve.c needs MVE"
#endif

#include "common/mve.h"
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

#define CHUNK 8

typedef struct {
    const cortexm_conv_s8_t *p;
    const int8_t *weight;
    const int32_t *bias;
    int32_t taps, vectors;   /* vectors of four taps */
    int32_t *offset;         /* [taps] from the first tap, in bytes; this and the next two are padded to … */
    int32_t *down, *right;   /* … whole vectors with taps outside of every image */
    const int8_t **tap;      /* [taps][2] where the taps of two pixels are */
    int8_t *padding;         /* a pixel of zero points */
} layer_t;

typedef struct {
    const int8_t *first; /* tap 0, whether it lies in the image or not */
    int32_t y, x;
    int8_t *out;
} pixel_t;

/* Points the table to the taps of two pixels. Inside is 0 <= y < in_h, which is one unsigned
 * comparison. In assembly because GCC 12 moves every predicate through a core register. */
static inline void point(const layer_t *layer, const pixel_t pixel[2])
{
    const uint32x4_t height = vdupq_n_u32((uint32_t)layer->p->in_h);
    const uint32x4_t width = vdupq_n_u32((uint32_t)layer->p->in_w);
    const int32x4_t padding = vdupq_n_s32((int32_t)(intptr_t)layer->padding);
    const int32_t *offset = layer->offset;
    const int32_t *down = layer->down;
    const int32_t *right = layer->right;
    const int8_t **tap = layer->tap;
    const pixel_t first = pixel[0];
    const pixel_t second = pixel[1];

    for (int32_t i = layer->vectors; i > 0; --i) {
        register int32x4_t a __asm__("q0");
        register int32x4_t b __asm__("q1");
        int32x4_t t;

        __asm__ volatile("vldrw.u32   %q[t], [%[down]]\n\t"
                         "vadd.i32    %q[t], %q[t], %[y0]\n\t"
                         "vldrw.u32   %q[a], [%[offset]]\n\t"
                         "vcmp.u32    hi, %q[height], %q[t]\n\t"
                         "vldrw.u32   %q[t], [%[right]]\n\t"
                         "vadd.i32    %q[t], %q[t], %[x0]\n\t"
                         "vadd.i32    %q[a], %q[a], %[first0]\n\t"
                         "vpst\n\t"
                         "vcmpt.u32   hi, %q[width], %q[t]\n\t"
                         "vpsel       %q[a], %q[a], %q[padding]\n\t"
                         "vldrw.u32   %q[t], [%[down]], #16\n\t"
                         "vadd.i32    %q[t], %q[t], %[y1]\n\t"
                         "vldrw.u32   %q[b], [%[offset]], #16\n\t"
                         "vcmp.u32    hi, %q[height], %q[t]\n\t"
                         "vldrw.u32   %q[t], [%[right]], #16\n\t"
                         "vadd.i32    %q[t], %q[t], %[x1]\n\t"
                         "vadd.i32    %q[b], %q[b], %[first1]\n\t"
                         "vpst\n\t"
                         "vcmpt.u32   hi, %q[width], %q[t]\n\t"
                         "vpsel       %q[b], %q[b], %q[padding]\n\t"
                         "vst20.32    {%q[a], %q[b]}, [%[tap]]\n\t"
                         "vst21.32    {%q[a], %q[b]}, [%[tap]]!\n\t"
                         : [a] "=&w"(a), [b] "=&w"(b), [t] "=&w"(t), [tap] "+r"(tap),
                           [offset] "+r"(offset), [down] "+r"(down), [right] "+r"(right)
                         : [height] "w"(height), [width] "w"(width), [padding] "w"(padding),
                           [y0] "r"(first.y), [x0] "r"(first.x), [first0] "r"(first.first),
                           [y1] "r"(second.y), [x1] "r"(second.x), [first1] "r"(second.first)
                         : "memory");
    }
}

/* What a chunk needs and does not change, in memory for want of registers. */
typedef struct {
    int16x8_t low, high;
    int32_t taps, zero_point;
    const int8_t **tap;
} chunk_t;

/* Eight channels of two pixels: even and odd sums of each, finished and put in order again. Moves the
 * table and all pointers on to the next chunk. In assembly, because all vector registers are in use
 * and GCC 12 keeps too many other things in registers to leave ten for this loop. */
#define FINISH(x, y, multiplier)                                                                   \
    "vqrdmulh.s32 %q[" x "], %q[" x "], %q[" multiplier "]\n\t"                                    \
    "vqrdmulh.s32 %q[" y "], %q[" y "], %q[" multiplier "]\n\t"                                    \
    "vshr.s32     %q[v], %q[" x "], #31\n\t"                                                       \
    "vadd.i32     %q[" x "], %q[" x "], %q[v]\n\t"                                                 \
    "vshr.s32     %q[v], %q[" y "], #31\n\t"                                                       \
    "vadd.i32     %q[" y "], %q[" y "], %q[v]\n\t"                                                 \
    "vrshl.s32    %q[" x "], %q[" x "], %q[u]\n\t"                                                 \
    "vrshl.s32    %q[" y "], %q[" y "], %q[u]\n\t"

typedef struct {
    const int8_t *weight;
    const int32_t *bias, *multiplier;
    const int8_t *shift;
    int8_t *out0, *out1;
} pointers_t;

static inline void chunk_of_two(const chunk_t *chunk, pointers_t *at)
{
    const int8_t **tap;
    int32_t first, second;
    register int32x4_t a __asm__("q0");
    register int32x4_t b __asm__("q1");
    register int32x4_t t __asm__("q2");
    register int32x4_t w __asm__("q3");
    int32x4_t c, d, u, v;

    __asm__ volatile("ldrd         %[first], %[second], [%[chunk], #32]\n\t"
                     "ldr          %[tap], [%[chunk], #40]\n\t"
                     "vld20.32     {%q[a], %q[b]}, [%[bias]]\n\t"
                     "vld21.32     {%q[a], %q[b]}, [%[bias]]!\n\t"
                     "vmov         %q[c], %q[a]\n\t"
                     "vmov         %q[d], %q[b]\n\t"
                     "dls          lr, %[first]\n"
                     "1:\n\t"
                     "ldrd         %[first], %[second], [%[tap]]\n\t"
                     "vldrb.s16    %q[w], [%[weight]], #8\n\t"
                     "vldrb.s16    %q[u], [%[first]], #8\n\t"
                     "vmullb.s16   %q[t], %q[u], %q[w]\n\t"
                     "vldrb.s16    %q[v], [%[second]], #8\n\t"
                     "vadd.i32     %q[a], %q[a], %q[t]\n\t"
                     "vmullt.s16   %q[u], %q[u], %q[w]\n\t"
                     "strd         %[first], %[second], [%[tap]], #8\n\t"
                     "vadd.i32     %q[b], %q[b], %q[u]\n\t"
                     "vmullb.s16   %q[t], %q[v], %q[w]\n\t"
                     "vadd.i32     %q[c], %q[c], %q[t]\n\t"
                     "vmullt.s16   %q[v], %q[v], %q[w]\n\t"
                     "vadd.i32     %q[d], %q[d], %q[v]\n\t"
                     "le           lr, 1b\n\t"
                     "ldr          %[second], [%[chunk], #36]\n\t"
                     "vld20.32     {%q[t], %q[w]}, [%[multiplier]]\n\t"
                     "vldrb.s16    %q[u], [%[shift]], #8\n\t"
                     "vld21.32     {%q[t], %q[w]}, [%[multiplier]]!\n\t"
                     /* A shift is the lowest byte of a lane; the others do not matter. */
                     FINISH("a", "c", "t")
                     "vshr.u32     %q[u], %q[u], #16\n\t"
                     FINISH("b", "d", "w")
                     "vldrw.u32    %q[t], [%[chunk]]\n\t"
                     "vqmovnb.s32  %q[a], %q[a]\n\t"
                     "vqmovnb.s32  %q[c], %q[c]\n\t"
                     "vqmovnt.s32  %q[a], %q[b]\n\t"
                     "vqmovnt.s32  %q[c], %q[d]\n\t"
                     "vqadd.s16    %q[a], %q[a], %[second]\n\t"
                     "vqadd.s16    %q[c], %q[c], %[second]\n\t"
                     "vldrw.u32    %q[w], [%[chunk], #16]\n\t"
                     "vmax.s16     %q[a], %q[a], %q[t]\n\t"
                     "vmax.s16     %q[c], %q[c], %q[t]\n\t"
                     "vmin.s16     %q[a], %q[a], %q[w]\n\t"
                     "vmin.s16     %q[c], %q[c], %q[w]\n\t"
                     "vstrb.16     %q[a], [%[out0]], #8\n\t"
                     "vstrb.16     %q[c], [%[out1]], #8\n\t"
                     : [a] "=&w"(a), [b] "=&w"(b), [c] "=&w"(c), [d] "=&w"(d), [t] "=&w"(t),
                       [u] "=&w"(u), [v] "=&w"(v), [w] "=&w"(w), [first] "=&l"(first),
                       [second] "=&l"(second), [tap] "=&r"(tap), [weight] "+&l"(at->weight),
                       [bias] "+&r"(at->bias), [multiplier] "+&r"(at->multiplier),
                       [shift] "+&l"(at->shift), [out0] "+&l"(at->out0), [out1] "+&l"(at->out1)
                     : [chunk] "r"(chunk)
                     : "lr", "memory");
}

static __attribute__((noinline)) void two_pixels(const layer_t *layer, const pixel_t pixel[2])
{
    const cortexm_conv_s8_t *const p = layer->p;
    const chunk_t chunk = {vdupq_n_s16(p->act_min), vdupq_n_s16(p->act_max), layer->taps,
                           p->out_zero_point, layer->tap};
    pointers_t at = {layer->weight, layer->bias,  p->multiplier,
                     p->shift,      pixel[0].out, pixel[1].out};

    point(layer, pixel);
    for (int32_t left = p->out_c; left > 0; left -= CHUNK) {
        if (left < CHUNK) {
            const int32_t again = CHUNK - left;

            for (int32_t i = 0; i < 2 * layer->taps; ++i) {
                layer->tap[i] -= again;
            }
            at.bias -= again;
            at.multiplier -= again;
            at.shift -= again;
            at.out0 -= again;
            at.out1 -= again;
        }
        chunk_of_two(&chunk, &at);
    }
}

/* Divides the scratch memory, and fills what is the same for all pixels. */
static layer_t layer_of(const cortexm_conv_s8_t *p, const int8_t *weight, const int32_t *bias,
                        void *scratch)
{
    const int32_t taps = p->kernel_h * p->kernel_w;
    const int32_t padded = (taps + 3) & ~3;
    int32_t *const words = scratch;
    layer_t layer = {p,
                     weight,
                     bias,
                     taps,
                     padded / 4,
                     words,
                     words + padded,
                     words + 2 * padded,
                     (const int8_t **)(words + 3 * padded),
                     (int8_t *)(words + 5 * padded)};
    int32_t i = 0;

    for (int32_t ky = 0; ky < p->kernel_h; ++ky) {
        for (int32_t kx = 0; kx < p->kernel_w; ++kx) {
            layer.down[i] = ky * p->dilation_h;
            layer.right[i] = kx * p->dilation_w;
            layer.offset[i] = layer.down[i] * p->in_row_stride + layer.right[i] * p->in_c;
            ++i;
        }
    }
    for (; i < padded; ++i) {
        layer.down[i] = INT32_MIN;
        layer.right[i] = 0;
        layer.offset[i] = 0;
    }
    cortexm_fill_mve(layer.padding, p->in_zero_point, p->in_c);
    return layer;
}

void cortexm_depthwise_conv2d_s8_mve(const cortexm_conv_s8_t *params, const int8_t *in,
                                     const int8_t *weight, const int32_t *bias, int8_t *out,
                                     void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const layer_t layer = layer_of(p, weight, bias, scratch);
    pixel_t pixel[2];
    int8_t *out_pixel = out;
    int waiting = 0;

    CORTEXM_ASSERT(p->in_c == p->out_c && p->in_c >= CHUNK);
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);
    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        int32_t x = p->in_x0;

        for (int32_t ox = 0; ox < p->out_w; ++ox) {
            pixel_t *const next = &pixel[waiting];

            next->first = in + y * p->in_row_stride + x * p->in_c;
            next->y = y;
            next->x = x;
            next->out = out_pixel;
            if (waiting) {
                two_pixels(&layer, pixel);
            }
            waiting = !waiting;
            out_pixel += p->out_pixel_stride;
            x += p->stride_w;
        }
    }
    if (waiting) {
        pixel[1] = pixel[0];
        two_pixels(&layer, pixel);
    }
}
