/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cases.h"
#include "floats.h"
#include "harness.h"

/* As float_eights in plan/kernels/packing_floats.py, float_beside, float_channels, float_fours, or
 * float_filled. */
static float *packed_floats(const cortexm_conv_f32_t *p, const float *weight, conv_f32_kind_t kind)
{
    const int is_beside = kind == BESIDE || kind == ROWS_BESIDE;
    const int is_one = kind >= ONE_THREE && kind <= ONE_FIVE;
    const int32_t depth = p->in_c / p->groups * p->kernel_h * p->kernel_w;
    const int32_t group_out = p->out_c / p->groups;
    const int are_apart = p->in_strides[1] != 1 || p->out_strides[1] != 1;
    const int are_channels = p->groups >= 4 && (kind == CHANNELS_WIDE || kind == CHANNEL_FOURS ||
                                                (kind == CHANNELS && !are_apart));
    float *const packed = malloc((size_t)((p->out_c + 3 * p->groups + 8) * depth) * sizeof *packed);
    float *to = packed;

    for (int32_t o = 0; o < p->out_c;) {
        const int32_t left = group_out - o % group_out;
        const int is_last = kind == CHANNELS && p->out_c - o < 3; /* of few that are left */
        const int32_t of_left = left >= 4 ? 4 : is_beside ? left : 1;
        const int32_t of_filled = left > 4 ? 8 : 4;
        const int are_four = (are_channels && !is_last) || is_one;
        const int32_t beside = are_four ? 4 : left >= 8 ? 8 : p->filled ? of_filled : of_left;
        const int32_t first = are_four && o > p->out_c - 4 ? p->out_c - 4 : o;

        for (int32_t i = 0; i < beside * depth; ++i) {
            const int32_t at = are_four || i % beside < left ? i % beside : left - 1;

            *to++ = weight[(first + at) * depth + i / beside];
        }
        o += are_four || beside < left ? beside : left;
    }
    return packed;
}

/* Walks an image from its last row and column to the first ones, as a phase of a transposed convolution does.
 * Returns where that begins. */
static int32_t in_reverse(int32_t strides[4], int32_t h, int32_t w)
{
    const int32_t last = (h - 1) * strides[2] + (w - 1) * strides[3];

    strides[2] = -strides[2];
    strides[3] = -strides[3];
    return last;
}

int any_conv_f32_case(conv_f32_fn variant, conv_f32_fn ref, conv_f32_kind_t kind)
{
    const int transposed = kind == TRANSPOSED;
    const int is_one = kind >= ONE_THREE && kind <= ONE_FIVE;
    const int are_planes = kind >= PLANES_3X3 && kind <= PLANES_WIDE;
    const int are_channels = kind == CHANNELS || kind == CHANNEL_FOURS;
    const int rows = kind == ROWS || kind == ROWS_BESIDE;
    const int eights = kind >= BESIDE;
    cortexm_conv_f32_t p;
    int32_t in_size;
    int32_t out_size;
    int32_t in_first = 0;
    int32_t out_first = 0;
    float *in;
    float *weight;
    float *bias;
    float *packed;
    float *(*const some)(int32_t) = kind == PLANES_WIDE ? (one_in(2) ? any_reals : terms) : transposed || kind == PLAIN ? terms : reals;
    outputs_t o;

    p.batches = between(1, 2);
    p.groups = eights && one_in(3) ? between(4, 9) : between(1, 3);
    p.in_c = p.groups * (p.groups > 3 ? between(1, 2) : between(1, 3));
    p.out_c = p.groups * (p.groups > 3 ? between(1, 2) : between(1, eights ? 20 : 6));
    p.in_h = between(1, 5);
    p.in_w = between(1, 12);
    p.out_h = between(1, 5);
    p.out_w = between(1, 10);
    p.kernel_h = between(1, 3);
    p.kernel_w = between(1, 5);
    p.stride_h = between(1, 3);
    p.stride_w = between(1, 3);
    p.dilation_h = between(1, 2);
    p.dilation_w = between(1, 3);
    p.pad_top = between(transposed ? -1 : 0, 2);
    p.pad_left = between(transposed ? -1 : 0, 3);
    if (eights && one_in(3)) { /* borders of one column, whole images of them; rows of up to four blocks of six */
        p.kernel_h = p.kernel_w = 3;
        p.dilation_w = 1;
        p.in_w += one_in(2) ? between(0, 12) : 0;
        p.stride_w = between(1, 2);
        p.pad_left = between(0, 1);
        p.out_w = (p.in_w + 2 * p.pad_left) / p.stride_w;
        p.out_w = p.out_w < 3 ? p.out_w + (p.out_w == 0) : p.out_w - between(0, 2);
    } else if (eights && p.groups < 4 && one_in(3)) { /* enough products for single pixels */
        p.kernel_h = p.kernel_w = 1;
        p.in_c = p.groups * between(1, 70);
    }
    if (are_channels) { /* each a group; rows of fewer than four pixels and of more than eight */
        p.groups = p.in_c = p.out_c = between(1, 12);
        p.in_w += between(0, 1) * 14;
        p.out_w += between(0, 1) * 12;
        if (one_in(4)) { /* windows of one column, that go down images of any width */
            p.kernel_w = p.stride_w = 1;
            p.kernel_h = between(1, 5);
            p.stride_h = between(1, 2);
            p.pad_left = 0;
            p.in_w = p.out_w = between(1, 12);
            p.in_h = between(1, 12);
            p.out_h = between(1, 12);
        }
    }
    p.filled = kind == EIGHTS && one_in(2);
    for (int i = 0; i < 4; ++i) {
        p.in_strides[i] = p.out_strides[i] = kind == CHANNELS_WIDE || i == 3;
    }
    while (kind == CHANNELS_WIDE && !is_inside(&p)) { /* in rows, or down columns */
        int32_t *const rows_of[] = {&p.in_h, &p.out_h, &p.kernel_h, &p.stride_h, &p.dilation_h, &p.pad_top};
        int32_t *const columns_of[] = {&p.in_w, &p.out_w, &p.kernel_w, &p.stride_w, &p.dilation_w, &p.pad_left};
        const int is_turned = one_in(4);
        int32_t *const *const along = is_turned ? rows_of : columns_of;
        int32_t *const *const across = is_turned ? columns_of : rows_of;

        p.groups = p.in_c = p.out_c = between(4, 13) + (one_in(8) ? 24 : 0);
        *along[0] = between(1, 30);
        *along[1] = between(1, 30);
        *along[2] = between(3, 12);
        *along[3] = between(1, 2);
        *along[4] = *along[3] * between(1, 2);
        *along[5] = between(0, 12);
        *across[2] = is_turned ? 1 : between(1, 4);
        *across[5] = between(0, 2);
    }
    if (rows || ((kind == BESIDE || kind == EIGHTS) && one_in(4))) { /* a row of pixels, as of a linear layer */
        p.batches = p.groups = p.out_h = p.kernel_h = p.kernel_w = 1;
        p.pad_top = p.pad_left = 0;
        p.in_c = between(1, 70);
        p.out_c = between(1, 30);
        p.out_w = one_in(2) ? between(1, 10) : between(20, 40);
        p.in_w = p.out_w * p.stride_w - between(0, 2);
        p.in_w += 3 * (p.in_w <= 0 || rows);
    }
    if (is_one) { /* columns of which the first ones and the last ones may lie outside the image; four rows or more */
        p.groups = p.in_c = p.dilation_w = 1;
        p.out_c = between(4, 13);
        p.kernel_w = 3 + (int32_t)kind - (int32_t)ONE_THREE;
        p.kernel_h = between(1, 6);
        p.pad_left = between(0, p.kernel_w / 2);
        p.pad_top = between(0, 4);
        p.out_w = between(1, 20);
        p.out_h = between(4, 11);
        p.in_w = (p.out_w - 1) * p.stride_w + p.kernel_w - p.kernel_w / 2 - p.pad_left + between(0, 3);
        p.in_w += p.in_w < 1;
        p.in_h = between(1, 15);
    }
    if (are_planes) {
        p.groups = p.in_c = p.out_c = between(1, 5);
    }
    if (kind == PLANES_3X3 || (are_channels && one_in(2))) { /* no more than a row and a column outside */
        p.kernel_h = p.kernel_w = 3;
        p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = 1;
        p.pad_top = between(0, 1);
        p.pad_left = between(0, 1);
        p.in_h += are_planes ? 1 : 2;
        p.in_w = are_planes && one_in(4) ? 7 : p.in_w + 2 + 14 * (are_planes && one_in(2)) + 4 * are_planes;
        p.out_h = p.in_h + p.pad_top - 1 - between(0, p.in_h > 2);
        p.out_w = p.in_w + p.pad_left - 1 - between(0, 1);
    }
    while (kind == PLANES_ROW && (p.in_w < 1 || !is_inside(&p))) { /* four columns may lie outside */
        p.kernel_w = between(1, 11);
        p.stride_w = 1;
        p.dilation_w = between(1, 3);
        p.pad_left = between(0, 4);
        p.out_h = between(1, 4);
        p.out_w = between(16, 70);
        p.in_w = p.out_w - p.pad_left + (p.kernel_w - 1) * p.dilation_w - between(-2, 4);
    }
    if (kind == PLANES_ROW && one_in(3)) { /* windows of one column, of planes without gaps */
        const int32_t whole = between(1, 12); /* rows of pixels that have all of them */

        p.kernel_w = p.stride_h = p.stride_w = 1;
        p.kernel_h = between(1, 6);
        p.pad_left = 0;
        p.pad_top = between(0, (p.kernel_h - 1) * p.dilation_h);
        p.out_w = (16 + whole - 1) / whole + between(0, 20);
        p.in_w = p.out_w;
        p.in_h = whole + (p.kernel_h - 1) * p.dilation_h;
        p.out_h = p.pad_top + whole + between(0, 4);
    }
    if (kind == PLANES_WIDE) { /* seven may */
        p.stride_w = p.dilation_w = 1;
        do {
            p.kernel_h = between(1, 4);
            p.kernel_w = between(1, 17);
            p.pad_left = between(0, 7);
            p.out_h = between(1, 8);
            p.in_h = between(1, 10);
            p.out_w = one_in(3) ? between(8, 70) : between(5, 24);
            p.in_w = p.out_w - 1 + p.kernel_w - p.pad_left - between(-3, 7);
        } while (p.in_w < 1 || !is_inside(&p));
    }
    p.bias_stride = between(0, 1);
    in_size = image(p.in_strides, p.batches, p.in_c, p.in_h, p.in_w);
    out_size = image(p.out_strides, p.batches, p.out_c, p.out_h, p.out_w);
    if (kind == CHANNELS_WIDE) { /* with gaps between pixels and rows or none */
        p.in_strides[1] = p.out_strides[1] = 1;
        p.in_strides[3] = p.out_strides[3] = p.in_c + between(0, 3);
        p.out_strides[3] += one_in(2) ? 1 : 0;
        p.in_strides[2] = p.in_w * p.in_strides[3] + between(0, 2);
        p.in_strides[0] = p.in_h * p.in_strides[2];
        in_size = p.batches * p.in_strides[0];
        p.out_strides[2] = p.out_w * p.out_strides[3];
        p.out_strides[0] = p.out_h * p.out_strides[2];
        out_size = p.batches * p.out_strides[0];
    } else if (are_planes) { /* rows and planes with a gap between them or none */
        p.in_strides[3] = p.out_strides[3] = 1;
        p.in_strides[2] = p.in_w + (kind == PLANES_ROW && p.out_w < 16 ? 0 : between(0, 2));
        p.in_strides[1] = p.in_h * p.in_strides[2] + between(0, 2);
        p.in_strides[0] = p.in_c * p.in_strides[1];
        in_size = p.batches * p.in_strides[0];
        p.out_strides[2] = p.out_w;
        p.out_strides[1] = p.out_h * p.out_w;
        p.out_strides[0] = p.out_c * p.out_strides[1];
        out_size = p.batches * p.out_strides[0];
    } else if (is_one) { /* rows with a gap between them or none */
        p.in_strides[3] = 1;
        p.in_strides[2] = p.in_w + between(0, 2);
        p.in_strides[0] = p.in_h * p.in_strides[2];
        in_size = p.batches * p.in_strides[0];
    } else if (rows) { /* the terms of a pixel lie side by side */
        p.in_strides[1] = 1;
        p.in_strides[3] = p.in_c;
        if (kind == ROWS_BESIDE) { /* and so do its outputs */
            p.out_strides[1] = 1;
            p.out_strides[3] = p.out_c;
        }
    } else if (!transposed && one_in(4)) {
        const int32_t apart = between(1, 3);

        for (int d = 0; d < 4; ++d) {
            p.out_strides[d] *= apart;
        }
        out_size *= apart;
        in_first = in_reverse(p.in_strides, p.in_h, p.in_w);
        out_first = in_reverse(p.out_strides, p.out_h, p.out_w);
    }
    in = some(in_size);
    weight = some(p.in_c * p.out_c / p.groups * p.kernel_h * p.kernel_w);
    bias = some(p.bias_stride * (p.out_c - 1) + 1);
    o = float_outputs(out_size);
    check_inside(&p);
    packed = eights || is_one ? packed_floats(&p, weight, kind) : NULL;
    variant(&p, in + in_first, packed != NULL ? packed : weight, bias, (float *)o.data[0] + out_first);
    ref(&p, in + in_first, weight, bias, (float *)o.data[1] + out_first);
    free(in);
    free(weight);
    free(packed);
    free(bias);
    return finish_floats(&o, EXACT);
}
