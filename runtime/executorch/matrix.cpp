/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of the cortex_m dialect. */
#include "args.h"
#include "cortexm/executorch_operators.h"
#include "schemas.h"
#include "unpacked.h"

#include "cortexm/kernels.h"

namespace cortexm_et {

/*
 * A program lowered for a core with MVE carries instead of the bias a kernel sum, which is
 * sum[o] = bias[o] + input_offset * sum_k (weight[o][k] + filter_offset). Then the input's offset is
 * in it already, and both forms give the same result on every core.
 */
void quantized_linear_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::quantized_linear;
    Args args(context, values, S::kCount);
    const View in = args.tensor(S::input, ScalarType::Char);
    const View weight = args.tensor(S::weights, ScalarType::Char);
    const View out = args.tensor(S::out, ScalarType::Char);
    cortexm_et_linear_t l = {};

    args.require(weight.rank == 2 && in.rank >= 1 && in.rank == out.rank && weight.sizes[1] >= 1 &&
                 in.sizes[in.rank - 1] == weight.sizes[1] &&
                 out.sizes[out.rank - 1] == weight.sizes[0] && in.is_contiguous() &&
                 weight.is_contiguous() && out.is_contiguous());
    if (!args.ok()) {
        return;
    }
    const bool has_sum = !args.is_none(S::kernel_sum);

    l.in = in.as<const int8_t>();
    l.weight = weight.as<const int8_t>();
    l.out = out.as<int8_t>();
    l.in_features = weight.sizes[1];
    l.out_features = weight.sizes[0];
    l.rows = in.count / l.in_features;
    args.require(args.is_none(S::bias) || !has_sum);
    args.require(static_cast<int64_t>(l.rows) * l.out_features == out.count);
    l.base = args.words(has_sum ? S::kernel_sum : S::bias, l.out_features, true);
    l.in_offset = args.integer(S::input_offset, -INT8_MAX, -INT8_MIN);
    l.weight_offset = args.integer(S::filter_offset, -INT8_MAX, -INT8_MIN);
    l.out_offset = args.code(S::output_offset);
    cortexm_et_rescaling_t by = {};
    args.require(args.integers(S::requantize_multipliers, &by.multiplier, 1) == 1 &&
                 args.integers(S::requantize_shifts, &by.shift, 1) == 1);
    args.require(by.multiplier >= 0 && by.shift <= 30);
    by = cortexm_et_rescaling(by.multiplier, by.shift);
    l.multiplier = by.multiplier;
    l.shift = by.shift;
    l.act_max = args.code(S::activation_max);
    l.act_min = args.code(S::activation_min);
    if (has_sum) {
        l.in_offset = 0;
    }
    if (args.ok()) {
        cortexm_et_linear(&l);
    }
}

void quantized_batch_matmul_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::quantized_batch_matmul;
    Args args(context, values, S::kCount);
    const View lhs = args.tensor(S::lhs, ScalarType::Char);
    const View rhs = args.tensor(S::rhs_transposed, ScalarType::Char);
    const View out = args.tensor(S::out, ScalarType::Char);
    cortexm_batch_matmul_s8_t p = {};

    args.require(lhs.rank == 3 && rhs.rank == 3 && out.rank == 3 && lhs.sizes[0] == rhs.sizes[0] &&
                 lhs.sizes[2] == rhs.sizes[2] && out.sizes[0] == lhs.sizes[0] &&
                 out.sizes[1] == lhs.sizes[1] && out.sizes[2] == rhs.sizes[1] &&
                 lhs.is_contiguous() && rhs.is_contiguous() && out.is_contiguous());
    args.put(p.batches, out.sizes[0]);
    args.put(p.rows, out.sizes[1]);
    args.put(p.cols, out.sizes[2]);
    args.put(p.inner, lhs.sizes[2]);
    p.groups = 1;
    p.lhs_strides[1] = p.rows * p.inner;
    p.rhs_strides[1] = p.cols * p.inner;
    p.out_strides[1] = p.rows * p.cols;
    p.lhs_strides[2] = p.rhs_strides[2] = p.inner;
    p.out_strides[2] = p.cols;
    p.rhs_strides[3] = 1;
    /* The operator adds these two to the codes: they are negated zero points. */
    args.put(p.lhs_zero_point, -args.integer(S::lhs_zero_point, -INT8_MAX, -INT8_MIN));
    args.put(p.rhs_zero_point, -args.integer(S::rhs_zero_point, -INT8_MAX, -INT8_MIN));
    args.put(p.out_zero_point, args.code(S::output_zero_point));
    const cortexm_et_rescaling_t by = args.rescaling(S::output_multiplier, S::output_shift);
    args.require(by.multiplier >= 0);
    p.multiplier = by.multiplier;
    args.put(p.shift, by.shift);
    if (args.ok()) {
        cortexm_batch_matmul_s8_scalar(&p, lhs.as<const int8_t>(), rhs.as<const int8_t>(),
                                       out.as<int8_t>(), nullptr);
    }
}

} // namespace cortexm_et
