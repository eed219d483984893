/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

void cortexm_linear_s8_ref(const cortexm_linear_s8_t *p, const int8_t *in, const int8_t *weight,
                           const int32_t *bias, int8_t *out, void *scratch)
{
    (void)scratch;
    for (int r = 0; r < p->rows; ++r)
    for (int o = 0; o < p->out_features; ++o) {
        int64_t acc = bias[o];

        for (int k = 0; k < p->in_features; ++k) {
            acc += in[r * p->in_features + k] *
                   (weight[o * p->in_features + k] - p->weight_zero_point);
        }
        out[r * p->out_features + o] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier[o], p->shift[o]) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}

#define LINEAR_S8(op)                                                                              \
    void cortexm_##op##_s8_ref(const cortexm_linear_s8_t *p, const int8_t *in,                     \
                               const int8_t *weight, const int32_t *bias, int8_t *out,             \
                               void *scratch)                                                      \
    {                                                                                              \
        cortexm_linear_s8_ref(p, in, weight, bias, out, scratch);                                  \
    }

LINEAR_S8(linear_n3)
LINEAR_S8(linear_symmetric)

void cortexm_batch_matmul_s8_ref(const cortexm_batch_matmul_s8_t *p, const int8_t *lhs,
                                 const int8_t *rhs, int8_t *out, void *scratch)
{
    const int32_t *x = p->lhs_strides;
    const int32_t *w = p->rhs_strides;
    const int32_t *y = p->out_strides;

    (void)scratch;
    for (int g = 0; g < p->groups; ++g)
    for (int n = 0; n < p->batches; ++n)
    for (int r = 0; r < p->rows; ++r)
    for (int c = 0; c < p->cols; ++c) {
        int64_t acc = 0;

        for (int k = 0; k < p->inner; ++k) {
            acc += (lhs[g * x[0] + n * x[1] + r * x[2] + k] - p->lhs_zero_point) *
                   (rhs[g * w[0] + n * w[1] + c * w[2] + k * w[3]] - p->rhs_zero_point);
        }
        out[g * y[0] + n * y[1] + r * y[2] + c] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier, p->shift) + p->out_zero_point, INT8_MIN, INT8_MAX);
    }
}

#define LINEAR_S16(op, bias_type)                                                                  \
    void cortexm_##op##_s16_ref(const cortexm_linear_s16_t *p, const int16_t *in,                  \
                                const int8_t *weight, const bias_type *bias, int16_t *out,         \
                                void *scratch)                                                     \
    {                                                                                              \
        (void)scratch;                                                                             \
        for (int r = 0; r < p->rows; ++r)                                                          \
        for (int o = 0; o < p->out_features; ++o) {                                                \
            int64_t sum = bias[o];                                                                 \
                                                                                                   \
            for (int k = 0; k < p->in_features; ++k) {                                             \
                sum += (int64_t)in[r * p->in_features + k] * weight[o * p->in_features + k];       \
            }                                                                                      \
            out[r * p->out_features + o] = (int16_t)ref_clamp(                                     \
                ref_requantize_wide(sum, p->multiplier[o], p->shift[o]), p->act_min, p->act_max);  \
        }                                                                                          \
    }

LINEAR_S16(linear, int32_t)
LINEAR_S16(linear_wide, int64_t)

void cortexm_batch_matmul_s16_ref(const cortexm_batch_matmul_s16_t *p, const int16_t *lhs,
                                  const int16_t *rhs, int16_t *out, void *scratch)
{
    const int32_t *x = p->lhs_strides;
    const int32_t *w = p->rhs_strides;
    const int32_t *y = p->out_strides;

    (void)scratch;
    for (int g = 0; g < p->groups; ++g)
    for (int n = 0; n < p->batches; ++n)
    for (int r = 0; r < p->rows; ++r)
    for (int c = 0; c < p->cols; ++c) {
        int64_t sum = 0;

        for (int k = 0; k < p->inner; ++k) {
            sum += (int64_t)lhs[g * x[0] + n * x[1] + r * x[2] + k] *
                   rhs[g * w[0] + n * w[1] + c * w[2] + k * w[3]];
        }
        out[g * y[0] + n * y[1] + r * y[2] + c] = (int16_t)ref_clamp(
            ref_requantize_wide(sum, p->multiplier, p->shift), INT16_MIN, INT16_MAX);
    }
}

CORTEXM_MATMUL_F32(cortexm_matmul_f32_ref)
{
    const cortexm_matmul_f32_t *p = params;

    for (int i = 0; i < p->batches * p->rows * p->cols; ++i) {
        const int c = i % p->cols;
        const int r = i / p->cols % p->rows;
        const int n = i / p->cols / p->rows;

        out[i] = bias[n * p->bias_batch_stride + r * p->bias_row_stride + c * p->bias_col_stride];
        for (int k = 0; k < p->inner; ++k) {
            out[i] = ref_fma(
                out[i], a[n * p->a_batch_stride + r * p->a_row_stride + k * p->a_inner_stride],
                b[n * p->b_batch_stride + k * p->b_inner_stride + c * p->b_col_stride]);
        }
    }
}
