/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cases.h"
#include "harness.h"
#include "pack.h"

typedef enum { LINEAR_FOURS, LINEAR_PAIRS, LINEAR_GEMM4 } linear_kind_t;

static int linear_case(linear_fn variant, linear_fn ref, linear_kind_t kind)
{
    const int is_pairs = kind == LINEAR_PAIRS;
    cortexm_linear_s8_t p;
    int8_t *in;
    int8_t *weight;
    int8_t *packed;
    int8_t *scratch = NULL;
    int32_t *bias;
    outputs_t o;

    p.rows = between(1, 5);
    p.in_features = extent(one_in(8) ? between(1, 1100) : length(), 33);
    p.out_features = extent(length(), 31);
    p.multiplier = multiplier();
    p.shift = (int8_t)shift(16);
    if (is_pairs && p.shift >= 0) {
        p.shift = (int8_t)(-1 - p.shift);
    }
    p.weight_zero_point = (int8_t)(one_in(2) ? 0 : code());
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);
    in = random_bytes(p.rows * p.in_features);
    weight = random_bytes(p.out_features * p.in_features);
    bias = random_bias(p.out_features);
    packed = is_pairs             ? pack_pairs(weight, p.out_features, p.in_features)
             : kind == LINEAR_GEMM4 ? pack_gemm4(weight, p.out_features, 1, p.in_features)
                                    : pack_fours(weight, p.out_features, 1, p.in_features);
    if (is_pairs) {
        make_narrow(NULL, bias, p.out_features);
        scratch = allocate((p.in_features + 3) / 4 * 8);
    } else if (kind == LINEAR_FOURS) {
        scratch = allocate((p.in_features + 511) / 512 * 4);
    }
    o = outputs(p.rows * p.out_features);
    ref(&p, in, weight, bias, o.data[1], NULL);
    variant(&p, in, packed, bias, o.data[0], scratch);
    free(in);
    free(weight);
    free(packed);
    free(scratch);
    free(bias);
    return finish(&o);
}

int linear_fours_s8_case(linear_fn variant, linear_fn ref)
{
    return linear_case(variant, ref, LINEAR_FOURS);
}

int linear_pairs_s8_case(linear_fn variant, linear_fn ref)
{
    return linear_case(variant, ref, LINEAR_PAIRS);
}

int linear_gemm4_s8_case(linear_fn variant, linear_fn ref)
{
    return linear_case(variant, ref, LINEAR_GEMM4);
}

int batch_matmul_case(batch_matmul_fn variant, batch_matmul_fn ref, batch_matmul_kind_t kind)
{
    cortexm_batch_matmul_s8_t p;
    int8_t *lhs;
    int8_t *rhs;
    void *scratch = NULL;
    outputs_t o;

    p.batches = between(1, 3);
    p.rows = between(1, 9);
    p.cols = extent(between(1, 9), 31);
    p.inner = extent(length(), 33);
    p.multiplier = multiplier();
    p.shift = (int8_t)shift(16);
    p.lhs_zero_point = (int8_t)(one_in(2) ? 0 : code());
    p.rhs_zero_point = (int8_t)(one_in(2) ? 0 : code());
    p.out_zero_point = (int8_t)code();
    lhs = random_bytes(p.batches * p.rows * p.inner);
    rhs = random_bytes(p.batches * p.cols * p.inner);
    o = outputs(p.batches * p.rows * p.cols);
    if (kind == BATCH_MATMUL_COLUMN_SUMS) {
        scratch = allocate((p.cols + 3) / 4 * 16);
    } else if (kind == BATCH_MATMUL_WIDENED) {
        scratch = allocate((p.inner + 3) / 4 * 32);
        p.shift = (int8_t)(p.shift < 0 ? p.shift : -1 - p.shift);
    }
    variant(&p, lhs, rhs, o.data[0], scratch);
    ref(&p, lhs, rhs, o.data[1], NULL);
    free(lhs);
    free(rhs);
    free(scratch);
    return finish(&o);
}

static int any_pool_case(pool_fn variant, pool_fn ref, int32_t least_channels)
{
    cortexm_pool_s8_t p;
    int8_t *in;
    outputs_t o;

    p.channels = (uint16_t)extent(length(), 33);
    if (p.channels < least_channels) {
        p.channels = (uint16_t)(p.channels + least_channels - 1);
    }
    p.kernel_h = (uint16_t)between(1, 5);
    p.kernel_w = (uint16_t)between(1, 5);
    p.stride_h = (uint16_t)between(1, 3);
    p.stride_w = (uint16_t)between(1, 3);
    p.dilation_h = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    p.dilation_w = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    p.out_h = (uint16_t)between(1, 5);
    p.out_w = (uint16_t)between(1, 5);
    /* Every window has a pixel: its first tap is above the bottom, its last below the top, and
     * dilation does not step over the whole image. */
    p.in_h = (uint16_t)((p.out_h - 1) * p.stride_h + p.dilation_h + between(0, 4));
    p.in_w = (uint16_t)((p.out_w - 1) * p.stride_w + p.dilation_w + between(0, 4));
    p.in_y0 = (int16_t)-between(0, (p.kernel_h - 1) * p.dilation_h);
    p.in_x0 = (int16_t)-between(0, (p.kernel_w - 1) * p.dilation_w);
    p.in_row_stride = p.in_w * p.channels + between(0, 3);
    p.out_pixel_stride = (uint16_t)(p.channels + (one_in(3) ? between(0, 3) : 0));
    clamp_range(&p.act_min, &p.act_max);
    in = random_bytes((p.in_h - 1) * p.in_row_stride + p.in_w * p.channels);
    o = outputs(p.out_h * p.out_w * p.out_pixel_stride);
    variant(&p, in, o.data[0], NULL);
    ref(&p, in, o.data[1], NULL);
    free(in);
    return finish(&o);
}

int pool_s8_case(pool_fn variant, pool_fn ref)
{
    return any_pool_case(variant, ref, 1);
}

int pool_4_s8_case(pool_fn variant, pool_fn ref)
{
    return any_pool_case(variant, ref, 4);
}

int pool_16_s8_case(pool_fn variant, pool_fn ref)
{
    return any_pool_case(variant, ref, 16);
}
