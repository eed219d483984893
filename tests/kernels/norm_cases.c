/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cases.h"
#include "floats.h"
#include "harness.h"

int group_norm_f32_case(group_norm_f32_fn variant, group_norm_f32_fn ref)
{
    cortexm_group_norm_f32_t p;
    const int nhwc = between(0, 1);
    int32_t all;
    int32_t count;
    float *in;
    float *weight;
    float *bias;
    outputs_t o;

    p.batches = between(1, 3);
    p.groups = between(1, 3);
    p.channels = between(1, 4);
    p.pixels = between(1, 6);
    p.epsilon = 0.001f;
    all = p.groups * p.channels;
    count = p.batches * all * p.pixels;
    p.in_batch_stride = p.out_batch_stride = all * p.pixels;
    p.in_channel_stride = nhwc ? 1 : p.pixels;
    p.in_pixel_stride = nhwc ? all : 1;
    p.out_channel_stride = p.pixels;
    p.out_pixel_stride = 1;
    in = reals(count);
    weight = reals(all);
    bias = reals(all);
    o = float_outputs(count);
    variant(&p, in, weight, bias, o.data[0]);
    ref(&p, in, weight, bias, o.data[1]);
    free(in);
    free(weight);
    free(bias);
    return finish(&o);
}
