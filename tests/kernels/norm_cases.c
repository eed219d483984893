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

/* Whole rows, or groups of channels, which lie side by side or apart. */
static cortexm_group_norm_t random_norm(int32_t *count, int32_t *factors, int is_row)
{
    cortexm_group_norm_t p = {0};
    const int nhwc = one_in(2);
    const int along_pixels = nhwc && !is_row && one_in(2);

    p.batches = is_row ? 1 : between(1, 3);
    p.groups = between(1, is_row ? 9 : 6);
    p.outer = is_row ? 1 : between(1, 5);
    p.inner = is_row && one_in(8) ? between(200, 900) : length();
    p.size = p.outer * p.inner;
    *count = p.batches * p.groups * p.size;
    *factors = is_row ? p.inner : p.groups * (nhwc && !along_pixels ? p.inner : p.outer);
    p.in_batch_stride = p.out_batch_stride = p.groups * p.size;
    p.in_inner_stride = 1;
    if (along_pixels) { /* the channels of all groups side by side, one after the other */
        p.factor_group_stride = p.outer;
        p.factor_outer_stride = 1;
        p.in_group_stride = p.outer;
        p.in_outer_stride = 1;
        p.in_inner_stride = p.groups * p.outer;
    } else if (is_row) {
        p.factor_inner_stride = 1;
        p.in_group_stride = p.size;
    } else if (nhwc) { /* the same, pixels outside */
        p.factor_group_stride = p.inner;
        p.factor_inner_stride = 1;
        p.in_group_stride = p.inner;
        p.in_outer_stride = p.groups * p.inner;
    } else {
        p.factor_group_stride = p.outer;
        p.factor_outer_stride = 1;
        p.in_group_stride = p.size;
        p.in_outer_stride = p.inner;
    }
    p.out_group_stride = p.in_group_stride;
    p.out_outer_stride = p.in_outer_stride;
    p.out_inner_stride = p.in_inner_stride;
    if (!is_row && !nhwc && one_in(2)) { /* of a result with the pixels outside */
        p.out_group_stride = p.outer;
        p.out_outer_stride = 1;
        p.out_inner_stride = p.groups * p.outer;
    }
    while (p.size >> p.bits != 0) {
        ++p.bits;
    }
    p.mantissa = (uint32_t)p.size << (32 - p.bits);
    p.inverse = (uint32_t)((UINT64_C(1) << (30 + p.bits)) / (uint32_t)p.size);
    p.epsilon_low = one_in(2) ? (uint32_t)between(1, 1000) : random32() | 1u;
    p.epsilon_high = one_in(2) ? random32() >> between(2, 31) : 0;
    p.centred = between(0, 1);
    p.shift = between(4, 24);
    return p;
}

#define GROUP_NORM_CASE(types, type, codes, fewest)                                                \
    static int of_##types(group_norm_##types##_fn variant, group_norm_##types##_fn ref,            \
                          int is_row)                                                              \
    {                                                                                              \
        int32_t count;                                                                             \
        int32_t factors;                                                                           \
        cortexm_group_norm_t p = random_norm(&count, &factors, is_row);                            \
        const int32_t about = between(-100, 100);                                                  \
        type *in = codes(count);                                                                   \
        int32_t *factor = malloc(4 * (size_t)factors);                                             \
        int32_t *offset = malloc(4 * (size_t)factors);                                             \
        outputs_t o = outputs(count * (int32_t)sizeof *in);                                        \
        const int few = one_in(3); /* rows of little variance, or none */                          \
        const int32_t spread = between(0, fewest);                                                 \
                                                                                                   \
        for (int32_t i = 0; few && i < count; ++i) {                                               \
            in[i] = (type)between(about, about + spread);                                          \
        }                                                                                          \
        p.zero_point = sizeof *in == 1 ? about : 0;                                                \
        for (int32_t i = 0; i < factors; ++i) {                                                    \
            factor[i] = (int32_t)random32() >> between(0, 16);                                     \
            offset[i] = (int32_t)random32() >> between(2, 16);                                     \
        }                                                                                          \
        check_inside(&p);                                                                          \
        variant(&p, in, factor, offset, (type *)(void *)o.data[0]);                                \
        ref(&p, in, factor, offset, (type *)(void *)o.data[1]);                                    \
        free(in);                                                                                  \
        free(factor);                                                                              \
        free(offset);                                                                              \
        return finish(&o);                                                                         \
    }                                                                                              \
    int group_norm_##types##_case(group_norm_##types##_fn variant, group_norm_##types##_fn ref)    \
    {                                                                                              \
        return of_##types(variant, ref, one_in(2));                                                \
    }                                                                                              \
    int group_norm_rows_##types##_case(group_norm_##types##_fn variant, group_norm_##types##_fn ref) \
    {                                                                                              \
        return of_##types(variant, ref, 1);                                                        \
    }

GROUP_NORM_CASE(s8, int8_t, random_bytes, 3)
GROUP_NORM_CASE(s16, int16_t, random_codes_s16, 40)
