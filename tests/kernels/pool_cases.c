/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "floats.h"
#include "harness.h"

/* The fields that pools of both types of codes have. */
#define RANDOM_POOL(p, least_channels, most_channels)                                              \
    do {                                                                                           \
        (p).channels = (uint16_t)extent(length(), 33);                                             \
        if ((p).channels < (least_channels) || (p).channels > (most_channels)) {                   \
            (p).channels = (uint16_t)between(least_channels, most_channels);                       \
        }                                                                                          \
        (p).kernel_h = (uint16_t)between(1, 5);                                                    \
        (p).kernel_w = (uint16_t)between(1, 5);                                                    \
        (p).stride_h = (uint16_t)between(1, 3);                                                    \
        (p).stride_w = (uint16_t)between(1, 3);                                                    \
        (p).dilation_h = (uint16_t)(one_in(2) ? 1 : between(1, 3));                                \
        (p).dilation_w = (uint16_t)(one_in(2) ? 1 : between(1, 3));                                \
        (p).out_h = (uint16_t)between(1, 5);                                                       \
        (p).out_w = (uint16_t)between(1, one_in(3) ? 20 : 5);                                                      \
        /* Every window has a pixel: its first tap is above the bottom, its last below the top,    \
         * and dilation does not step over the whole image. */                                     \
        (p).in_h = (uint16_t)(((p).out_h - 1) * (p).stride_h + (p).dilation_h + between(0, 4));    \
        (p).in_w = (uint16_t)(((p).out_w - 1) * (p).stride_w + (p).dilation_w + between(0, 4));    \
        (p).in_y0 = (int16_t)-between(0, ((p).kernel_h - 1) * (p).dilation_h);                     \
        (p).in_x0 = (int16_t)-between(0, ((p).kernel_w - 1) * (p).dilation_w);                     \
        if (one_in(8)) { /* a window of up to 255 pixels of the image */                           \
            (p).kernel_h = (uint16_t)(one_in(2) ? 15 : between(1, 15));                            \
            (p).kernel_w = (uint16_t)(one_in(2) ? 17 : between(1, 17));                            \
            (p).dilation_h = (p).dilation_w = 1;                                                   \
            (p).out_h = (p).out_w = 1;                                                             \
            (p).in_h = (p).kernel_h;                                                               \
            (p).in_w = (p).kernel_w;                                                               \
            (p).in_y0 = (int16_t)-between(0, 1 - ((p).kernel_h == 1));                             \
            (p).in_x0 = 0;                                                                         \
        }                                                                                          \
        (p).in_row_stride = (p).in_w * (p).channels + between(0, 3);                               \
        (p).out_pixel_stride = (uint16_t)((p).channels + (one_in(3) ? between(0, 3) : 0));         \
    } while (0)

int any_pool_s8_case(pool_fn variant, pool_fn ref, int32_t least, int32_t most)
{
    cortexm_pool_s8_t p;
    int8_t *in;
    outputs_t o;

    RANDOM_POOL(p, least, most);
    if (least == 4 && one_in(16)) { /* more pixels than 16 bits have the sum of */
        p.in_h = p.kernel_h = (uint16_t)between(1, 3);
        p.in_w = p.kernel_w = (uint16_t)between(200, 300);
        p.dilation_h = p.dilation_w = 1;
        p.out_h = p.out_w = 1;
        p.in_y0 = p.in_x0 = 0;
        p.in_row_stride = p.in_w * p.channels + between(0, 3);
    }
    clamp_range(&p.act_min, &p.act_max);
    in = random_bytes((p.in_h - 1) * p.in_row_stride + p.in_w * p.channels);
    if (one_in(8)) { /* the largest sums */
        memset(in, one_in(2) ? INT8_MIN : INT8_MAX, (size_t)((p.in_h - 1) * p.in_row_stride + p.in_w * p.channels));
    }
    o = outputs(p.out_h * p.out_w * p.out_pixel_stride);
    check_inside(&p);
    variant(&p, in, o.data[0], NULL);
    ref(&p, in, o.data[1], NULL);
    free(in);
    return finish(&o);
}

/* Windows inside the image, of fewer channels than `limit`. */
int any_pool_rows_s8_case(pool_fn variant, pool_fn ref, int32_t limit)
{
    cortexm_pool_s8_t p;
    int8_t *in;
    int8_t *scratch;
    outputs_t o;

    RANDOM_POOL(p, 1, limit - 1);
    p.dilation_h = p.dilation_w = 1;
    p.kernel_w = p.kernel_w < p.stride_w ? p.stride_w : p.kernel_w;
    p.kernel_w = (uint16_t)(p.kernel_w + (p.kernel_h * p.kernel_w == 1));
    p.in_y0 = (int16_t)between(0, 2);
    p.in_x0 = (int16_t)between(0, 2);
    p.in_h = (uint16_t)(p.in_y0 + (p.out_h - 1) * p.stride_h + p.kernel_h + between(0, 2));
    p.in_w = (uint16_t)(p.in_x0 + (p.out_w - 1) * p.stride_w + p.kernel_w + between(0, 2));
    p.in_row_stride = p.in_w * p.channels + between(0, 3);
    clamp_range(&p.act_min, &p.act_max);
    in = random_bytes((p.in_h - 1) * p.in_row_stride + p.in_w * p.channels);
    if (one_in(8)) { /* the largest sums */
        memset(in, one_in(2) ? INT8_MIN : INT8_MAX, (size_t)((p.in_h - 1) * p.in_row_stride + p.in_w * p.channels));
    }
    scratch = scratch_for(&p);
    o = outputs(p.out_h * p.out_w * p.out_pixel_stride);
    variant(&p, in, o.data[0], scratch);
    ref(&p, in, o.data[1], NULL);
    free(in);
    free(scratch);
    return finish(&o);
}

/* A window of up to 255 pixels: the first pixels of a row, or the first rows. */
int any_pool_pixel_s8_case(pool_fn variant, pool_fn ref, int32_t least)
{
    cortexm_pool_s8_t p;
    int32_t size;
    int8_t *in;
    outputs_t o;

    RANDOM_POOL(p, least, 67);
    p.out_h = p.out_w = 1;
    p.in_y0 = p.in_x0 = 0;
    p.dilation_w = 1;
    p.kernel_h = (uint16_t)(one_in(2) ? 1 : between(1, 15));
    p.kernel_w = (uint16_t)(one_in(4) ? 255 / p.kernel_h : between(1, 17));
    p.in_h = (uint16_t)(p.kernel_h + between(0, 2));
    p.in_w = p.kernel_w;
    p.in_row_stride = p.in_w * p.channels;
    if (p.kernel_h == 1) {
        p.in_w = (uint16_t)(p.in_w + between(0, 2));
        p.in_row_stride += between(0, 3) * p.channels;
    } else {
        p.dilation_h = 1;
    }
    clamp_range(&p.act_min, &p.act_max);
    size = (p.in_h - 1) * p.in_row_stride + p.in_w * p.channels;
    in = random_bytes(size);
    if (one_in(4)) { /* the largest sums */
        memset(in, one_in(2) ? INT8_MIN : INT8_MAX, (size_t)size);
    }
    o = outputs(p.out_pixel_stride);
    check_inside(&p);
    variant(&p, in, o.data[0], NULL);
    ref(&p, in, o.data[1], NULL);
    free(in);
    return finish(&o);
}

int any_pool_s16_case(pool_s16_fn variant, pool_s16_fn ref, int32_t least, int32_t most)
{
    cortexm_pool_s16_t p;
    int16_t *in;
    outputs_t o;

    RANDOM_POOL(p, least, most);
    clamp_range_s16(&p.act_min, &p.act_max);
    in = random_codes_s16((p.in_h - 1) * p.in_row_stride + p.in_w * p.channels);
    o = outputs(2 * p.out_h * p.out_w * p.out_pixel_stride);
    check_inside(&p);
    variant(&p, in, o.data[0], NULL);
    ref(&p, in, o.data[1], NULL);
    free(in);
    return finish(&o);
}

int pool_f32_case(pool_f32_fn variant, pool_f32_fn ref)
{
    cortexm_pool_f32_t p;
    int32_t in_size;
    int32_t out_size;
    float *in;
    outputs_t o;

    p.batches = between(1, 2);
    p.channels = between(1, 11);
    p.kernel_h = between(1, 3);
    p.kernel_w = between(1, 4);
    p.stride_h = between(1, 3);
    p.stride_w = between(1, 3);
    p.dilation_h = p.dilation_w = 1;
    p.pad_top = between(0, p.kernel_h - 1);
    p.pad_left = between(0, p.kernel_w - 1);
    p.count_pad_h = between(0, 1) * p.pad_top;
    p.count_pad_w = between(0, 1) * p.pad_left;
    p.divisor = one_in(8) ? (1 << between(3, 22)) - between(1, 3) : between(0, 2);
    p.out_h = between(1, 4);
    p.out_w = between(1, one_in(3) ? 15 : 4);
    /* Every window reaches into the image. */
    p.in_h = between(1, 4) + (p.out_h - 1) * p.stride_h;
    p.in_w = between(1, 4) + (p.out_w - 1) * p.stride_w;
    in_size = image(p.in_strides, p.batches, p.channels, p.in_h, p.in_w);
    out_size = image(p.out_strides, p.batches, p.channels, p.out_h, p.out_w);
    in = reals(in_size);
    if (one_in(4)) {
        in[between(0, in_size - 1)] = NAN;
    }
    o = float_outputs(out_size);
    check_inside(&p);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish_floats(&o, EXACT);
}
