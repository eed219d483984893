/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "floats.h"
#include "harness.h"
#include "pack.h"

/* One of both variants is none. */
static int any_linear_case(linear_fn variant, linear_w4_fn variant_w4, linear_fn ref,
                           linear_kind_t kind)
{
    const int32_t bits = variant_w4 != NULL ? 4 : 8;
    const int is_pairs = kind == LINEAR_PAIRS;
    const int is_few = kind == LINEAR_FEW;
    const int is_signed = kind == LINEAR_SIGNED_SPLIT_FOURS;
    cortexm_linear_s8_t p;
    int32_t *multipliers;
    int8_t *shifts;
    int8_t *in;
    int8_t *weight;
    int8_t *packed;
    int8_t *scratch;
    int32_t *bias;
    outputs_t o;

    p.rows = between(1, is_few ? 9 : 5);
    p.in_features = extent(one_in(8) ? between(1, 1100) : length(), 33);
    p.out_features = extent(is_few ? between(1, 9) : length(), 31);
    if (is_few && p.in_features < 4) {
        p.in_features = 4;
    }
    multipliers = allocate(p.out_features * (int32_t)sizeof *multipliers);
    shifts = allocate(p.out_features);
    for (int32_t i = 0; i < p.out_features; ++i) {
        multipliers[i] = bits == 8 ? multiplier() : multiplier() & ~0xffff;
        shifts[i] = fitting((int8_t)shift(16));
    }
    p.multiplier = multipliers;
    p.shift = shifts;
    p.weight_zero_point = (int8_t)(one_in(2) || kind == LINEAR_GEMM8 || is_few || is_signed ? 0 : code());
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);
    in = random_codes(p.rows * p.in_features, 8);
    weight = random_codes(p.out_features * p.in_features, bits);
    bias = random_bias(p.out_features);
    fit_weights(weight, p.out_features * p.in_features, in, p.rows * p.in_features);
    fit_biases(bias, p.out_features);
    packed = is_few                              ? NULL
             : is_signed                         ? pack_signed_split_fours(weight, p.out_features, p.in_features)
             : is_pairs && bits == 8             ? pack_pairs(weight, p.out_features, p.in_features)
             : is_pairs                          ? pack_nibble_pairs(weight, p.out_features, p.in_features)
             : kind == LINEAR_GEMM8 && bits == 8 ? pack_gemm_of(8, 16, weight, p.out_features, 1, p.in_features)
             : kind == LINEAR_GEMM8 ? pack_nibble_gemm_of(8, 16, weight, p.out_features, 1, p.in_features)
             : bits == 4            ? pack_nibble_fours(weight, p.out_features, 1, p.in_features)
                                    : pack_fours(weight, p.out_features, 1, p.in_features);
    o = outputs(p.rows * p.out_features);
    ref(&p, in, weight, bias, o.data[1], NULL);
    if (is_signed) {
        bias = pack_four_tables(p.out_features, p.multiplier, p.shift, bias);
        p.multiplier = NULL;
        p.shift = NULL;
    }
    if (variant_w4 != NULL) {
        int16_t *const halves = allocate(p.out_features * (int32_t)sizeof *halves);
        cortexm_linear_s8w4_t p_w4; /* the same but for what a pointer is of */

        memcpy(&p_w4, &p, sizeof p_w4);
        p_w4.multiplier = halves;
        for (int32_t i = 0; i < p.out_features; ++i) {
            halves[i] = (int16_t)(multipliers[i] >> 16);
        }
        scratch = scratch_for(&p_w4);
        variant_w4(&p_w4, in, packed, bias, o.data[0], scratch);
        free(halves);
    } else {
        scratch = scratch_for(&p);
        variant(&p, in, is_few ? weight : packed, bias, o.data[0], scratch);
    }
    free(in);
    free(weight);
    free(packed);
    free(scratch);
    free(bias);
    free(multipliers);
    free(shifts);
    return finish(&o);
}

int linear_case(linear_fn variant, linear_fn ref, linear_kind_t kind)
{
    return any_linear_case(variant, NULL, ref, kind);
}

int linear_w4_case(linear_w4_fn variant, linear_fn ref, linear_kind_t kind)
{
    return any_linear_case(NULL, variant, ref, kind);
}

/* Where matrices of an operand lie: one after the other, or as heads, with the rows of all of a group side
 * by side and maybe more beside them; turned, columns take the place of rows. Returns how many elements
 * they reach over. */
static int32_t matrices(int32_t *strides, int32_t groups, int32_t batches, int32_t rows, int32_t cols,
                        int turned)
{
    const int32_t major = turned ? cols : rows;
    const int32_t minor = turned ? rows : cols;
    const int heads = one_in(2);
    const int32_t step = minor * (heads ? batches : 1) + (one_in(3) ? between(1, 5) : 0);

    strides[turned ? 3 : 2] = step;
    if (turned) {
        strides[2] = 1;
    }
    strides[1] = heads ? minor : major * step;
    strides[0] = (heads ? 1 : batches) * major * step + (one_in(3) ? between(1, 3) : 0);
    return groups * strides[0];
}

/* The shape and the places of a random product; the sizes of its operands and its result. */
#define RANDOM_PRODUCT(p, sizes)                                                                   \
    do {                                                                                           \
        const int turned = one_in(3);                                                              \
                                                                                                   \
        (p).groups = one_in(3) ? 2 : 1;                                                            \
        (p).batches = between(1, 3);                                                               \
        (p).rows = one_in(3) ? 1 : between(1, 9);                                                  \
        (p).cols = extent(between(1, 9), 31);                                                      \
        (p).inner = extent(length(), 33);                                                          \
        (p).rhs_strides[3] = 1;                                                                    \
        (sizes)[0] = matrices((p).lhs_strides, (p).groups, (p).batches, (p).rows, (p).inner, 0);   \
        (sizes)[1] = matrices((p).rhs_strides, (p).groups, (p).batches, (p).cols, (p).inner, turned); \
        (sizes)[2] = matrices((p).out_strides, (p).groups, (p).batches, (p).rows, (p).cols, 0);    \
    } while (0)

int batch_matmul_case(batch_matmul_fn variant, batch_matmul_fn ref, batch_matmul_kind_t kind)
{
    cortexm_batch_matmul_s8_t p;
    int32_t sizes[3];
    int8_t *lhs;
    int8_t *rhs;
    void *scratch;
    outputs_t o;

    RANDOM_PRODUCT(p, sizes);
    p.multiplier = multiplier();
    p.shift = (int8_t)shift(16);
    p.lhs_zero_point = (int8_t)(one_in(2) ? 0 : code());
    p.rhs_zero_point = (int8_t)(one_in(2) ? 0 : code());
    p.out_zero_point = (int8_t)code();
    lhs = random_bytes(sizes[0]);
    rhs = random_bytes(sizes[1]);
    o = outputs(sizes[2]);
    if (kind == BATCH_MATMUL_WIDENED) {
        p.shift = (int8_t)(p.shift < 0 ? p.shift : -1 - p.shift);
    }
    scratch = scratch_for(&p);
    variant(&p, lhs, rhs, o.data[0], scratch);
    ref(&p, lhs, rhs, o.data[1], NULL);
    free(lhs);
    free(rhs);
    free(scratch);
    return finish(&o);
}

/* The weights as a variant of int16 wants them, maybe themselves. */
static int8_t *pack_linear_s16(linear_kind_t kind, int32_t bits, int8_t *weight, int32_t outputs,
                               int32_t inputs)
{
    switch (kind) {
    case LINEAR_EIGHTS:
        return bits == 8 ? pack_eights(weight, outputs, inputs)
                         : pack_nibble_eights(weight, outputs, inputs);
    case LINEAR_PAIRS:
        return bits == 8 ? pack_pairs(weight, outputs, inputs)
                         : pack_nibble_twos(weight, outputs, inputs);
    case LINEAR_GEMM4:
        return bits == 8 ? pack_gemm4_in(8, weight, outputs, 1, inputs)
                         : pack_nibble_gemm4_in(8, weight, outputs, 1, inputs);
    default:
        return bits == 8 ? weight : pack_nibbles(copy_of(weight, outputs * inputs), outputs * inputs);
    }
}

int any_linear_s16_case(kernel_fn variant, kernel_fn ref, linear_kind_t kind, int wide,
                        int32_t bits)
{
    cortexm_linear_s16_t p;
    int16_t *multipliers;
    int8_t *shifts;
    int16_t *in;
    int8_t *weight;
    int8_t *packed;
    int8_t *scratch;
    void *bias;
    outputs_t o;

    p.rows = between(1, 5);
    p.in_features = extent(one_in(8) ? between(1, 1100) : length(), 33);
    p.out_features = extent(length(), 31);
    clamp_range_s16(&p.act_min, &p.act_max);
    multipliers = allocate(p.out_features * (int32_t)sizeof *multipliers);
    shifts = allocate(p.out_features);
    for (int32_t i = 0; i < p.out_features; ++i) {
        multipliers[i] = multiplier_s16();
        shifts[i] = fitting(shift_s16(wide && one_in(4) ? 31 : 16));
    }
    p.multiplier = multipliers;
    p.shift = shifts;
    in = random_codes_s16(p.rows * p.in_features);
    weight = random_codes(p.out_features * p.in_features, bits);
    bias = random_bias_s16(weight, p.out_features, p.in_features, p.in_features, 1,
                           wide ? 47 : limits()->sum_bits);
    o = outputs(2 * p.rows * p.out_features);
    packed = pack_linear_s16(kind, bits, weight, p.out_features, p.in_features);
    scratch = scratch_for(&p);
    if (wide) {
        ((linear_wide_s16_fn)variant)(&p, in, packed, bias, o.data[0], scratch);
        ((linear_wide_s16_fn)ref)(&p, in, weight, bias, o.data[1], NULL);
    } else {
        ((linear_s16_fn)variant)(&p, in, packed, bias, o.data[0], scratch);
        ((linear_s16_fn)ref)(&p, in, weight, bias, o.data[1], NULL);
    }
    if (packed != weight) {
        free(packed);
    }
    free(scratch);
    free(in);
    free(weight);
    free(bias);
    free(multipliers);
    free(shifts);
    return finish(&o);
}

int batch_matmul_s16_case(batch_matmul_s16_fn variant, batch_matmul_s16_fn ref)
{
    cortexm_batch_matmul_s16_t p;
    int32_t sizes[3];
    int16_t *lhs;
    int16_t *rhs;
    void *scratch;
    outputs_t o;

    RANDOM_PRODUCT(p, sizes);
    p.multiplier = multiplier_s16();
    p.shift = shift_s16(20);
    lhs = random_codes_s16(sizes[0]);
    rhs = random_codes_s16(sizes[1]);
    o = outputs(2 * sizes[2]);
    scratch = scratch_for(&p);
    variant(&p, lhs, rhs, o.data[0], scratch);
    ref(&p, lhs, rhs, o.data[1], NULL);
    free(lhs);
    free(rhs);
    free(scratch);
    return finish(&o);
}

/* Any product, or what kernels for vectors, or blocks, of columns take. */
static int any_matmul_f32_case(matmul_f32_fn variant, matmul_f32_fn ref, int vectors)
{
    float *(*const some)(int32_t) = vectors ? reals : terms;
    cortexm_matmul_f32_t p;
    float *a;
    float *b;
    float *bias;
    outputs_t o;

    memset(&p, 0, sizeof p);
    p.batches = between(1, 3);
    p.rows = between(1, vectors ? 10 : 5);
    p.cols = between(vectors ? 4 : 1, !vectors ? 10 : one_in(3) ? 60 : 20);
    p.inner = between(1, 20);
    p.a_batch_stride = p.rows * p.inner;
    p.a_row_stride = vectors || between(0, 1) ? p.inner : 1;
    p.a_inner_stride = p.a_row_stride == 1 && !vectors ? p.rows : 1;
    p.b_batch_stride = between(0, 1) * p.cols * p.inner;
    p.b_inner_stride = between(0, 1) ? p.cols : 1;
    p.b_col_stride = p.b_inner_stride == 1 ? p.inner : 1;
    if (p.inner == 1) {
        p.a_row_stride = p.b_col_stride = 1;
    }
    p.bias_col_stride = between(0, 1);
    p.bias_row_stride = vectors ? 0 : between(0, 1) * p.cols;
    a = some(p.batches * p.rows * p.inner);
    b = some(p.batches * p.cols * p.inner);
    bias = some(p.rows * p.cols);
    o = float_outputs(p.batches * p.rows * p.cols);
    check_inside(&p);
    variant(&p, a, b, bias, o.data[0]);
    ref(&p, a, b, bias, o.data[1]);
    free(a);
    free(b);
    free(bias);
    return finish_floats(&o, EXACT);
}

int matmul_f32_case(matmul_f32_fn variant, matmul_f32_fn ref)
{
    return any_matmul_f32_case(variant, ref, 0);
}

int matmul_vectors_f32_case(matmul_f32_fn variant, matmul_f32_fn ref)
{
    return any_matmul_f32_case(variant, ref, 1);
}
