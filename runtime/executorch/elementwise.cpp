/* SPDX-License-Identifier: Apache-2.0 */
/* Quantization, arithmetic of two operands, tables and softmax of the cortex_m dialect. */
#include "args.h"
#include "cortexm/executorch_operators.h"
#include "schemas.h"
#include "walk.h"

#include <cfloat>

#include "cortexm/kernels.h"

namespace cortexm_et {
namespace {

/* Sets the two fields of a requantization from the two arguments. */
template <typename T>
void put_rescaling(Args &args, int32_t &multiplier, T &shift, size_t multiplier_at, size_t shift_at)
{
    const cortexm_et_rescaling_t by = args.rescaling(multiplier_at, shift_at);

    multiplier = by.multiplier;
    args.put(shift, by.shift);
}

struct Codes {
    double scale;
    int32_t zero_point, lowest, highest;
};

/* Scale, zero point and range, of codes of this type; S is the operator. */
template <typename S>
Codes codes(Args &args, ScalarType type)
{
    const bool is_byte = type == ScalarType::Char;
    const int32_t low = is_byte ? INT8_MIN : INT16_MIN;
    const int32_t high = is_byte ? INT8_MAX : INT16_MAX;
    const Codes c = {args.real(S::scale), args.integer(S::zero_point, low, high),
                     args.integer(S::quant_min, low, high), args.integer(S::quant_max, low, high)};

    args.require((is_byte || type == ScalarType::Short) && c.scale > 0 &&
                 args.integer(S::dtype) == static_cast<int32_t>(type));
    return c;
}

/* Two operands of one type and the result they broadcast to. */
struct Operands {
    View a, b, out;
    Walk walk;

    Operands(Args &args, size_t first, size_t second, size_t result)
        : a(args.tensor(first)), b(args.tensor(second, a.type)), out(args.tensor(result, a.type)),
          walk(make_walk(args, out, a, b))
    {
    }

    template <typename T, typename Params>
    void run(void (*kernel)(const Params *, const T *, const T *, T *), Params params) const
    {
        each_run(walk, [&](const int32_t *at, int32_t count, const int32_t *periods) {
            params.count = count;
            set_periods(params, periods);
            kernel(&params, a.as<const T>() + at[1], b.as<const T>() + at[2], out.as<T>() + at[0]);
        });
    }

private:
    template <typename Params>
    static void set_periods(Params &params, const int32_t *periods)
    {
        params.a_period = periods[0];
        params.b_period = periods[1];
    }
    static void set_periods(cortexm_div_t &, const int32_t *) {}
};

template <typename T>
void extremum(const Operands &o, void (*kernel)(const cortexm_binary_t *, const T *, const T *, T *))
{
    each_run(o.walk, [&](const int32_t *at, int32_t count, const int32_t *periods) {
        cortexm_binary_t params = {};

        params.rank = 1;
        params.dims[0] = count;
        params.a_stride[0] = periods[0] == count ? 1 : 0;
        params.b_stride[0] = periods[1] == count ? 1 : 0;
        kernel(&params, o.a.as<const T>() + at[1], o.b.as<const T>() + at[2], o.out.as<T>() + at[0]);
    });
}

} // namespace

void quantize_per_tensor_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::quantize_per_tensor;
    Args args(context, values, S::kCount);
    const View in = args.tensor(S::input, ScalarType::Float);
    const View out = args.tensor(S::out);
    const Codes c = codes<S>(args, out.type);
    const Walk walk = make_walk(args, out, in, in);
    cortexm_quantize_t params = {};

    params.inv_scale = static_cast<float>(1.0 / c.scale);
    args.put(params.zero_point, c.zero_point);
    args.put(params.qmin, c.lowest);
    args.put(params.qmax, c.highest);
    args.require(in.count == out.count);
    if (!args.ok()) {
        return;
    }
    each_run(walk, [&](const int32_t *at, int32_t count, const int32_t *) {
        params.count = count;
        if (out.type == ScalarType::Char) {
            cortexm_quantize_f32s8_scalar(&params, in.as<const float>() + at[1],
                                          out.as<int8_t>() + at[0]);
        } else {
            cortexm_quantize_f32s16_scalar(&params, in.as<const float>() + at[1],
                                           out.as<int16_t>() + at[0]);
        }
    });
}

void dequantize_per_tensor_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::dequantize_per_tensor;
    Args args(context, values, S::kCount);
    const View in = args.tensor(S::input);
    const View out = args.tensor(S::out, ScalarType::Float);
    const Codes c = codes<S>(args, in.type);
    const Walk walk = make_walk(args, out, in, in);
    cortexm_dequantize_t params = {};

    params.scale = static_cast<float>(c.scale);
    args.put(params.zero_point, c.zero_point);
    args.require(in.count == out.count);
    if (!args.ok()) {
        return;
    }
    each_run(walk, [&](const int32_t *at, int32_t count, const int32_t *) {
        params.count = count;
        if (in.type == ScalarType::Char) {
            cortexm_dequantize_s8f32_scalar(&params, in.as<const int8_t>() + at[1],
                                            out.as<float>() + at[0]);
        } else {
            cortexm_dequantize_s16f32_scalar(&params, in.as<const int16_t>() + at[1],
                                             out.as<float>() + at[0]);
        }
    });
}

void quantized_add_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::quantized_add;
    Args args(context, values, S::kCount);
    const Operands o(args, S::self, S::other, S::out);
    cortexm_add_s8_t p = {};

    args.require(o.out.type == ScalarType::Char);
    args.put(p.a_zero_point, args.code(S::self_zero_point));
    put_rescaling(args, p.a_multiplier, p.a_shift, S::self_multiplier, S::self_shift);
    args.put(p.b_zero_point, args.code(S::other_zero_point));
    put_rescaling(args, p.b_multiplier, p.b_shift, S::other_multiplier, S::other_shift);
    args.put(p.out_zero_point, args.code(S::output_zero_point));
    put_rescaling(args, p.out_multiplier, p.out_shift, S::output_multiplier, S::output_shift);
    args.require(p.out_multiplier >= 0);
    args.put(p.act_min, args.code(S::activation_min));
    args.put(p.act_max, args.code(S::activation_max));
    if (args.ok()) {
        o.run<int8_t>(cortexm_add_s8_scalar, p);
    }
}

void quantized_mul_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::quantized_mul;
    Args args(context, values, S::kCount);
    const Operands o(args, S::self, S::other, S::out);
    cortexm_mul_s8_t p = {};

    args.require(o.out.type == ScalarType::Char);
    args.put(p.a_zero_point, args.integer(S::self_zero_point, INT16_MIN, INT16_MAX));
    args.put(p.b_zero_point, args.integer(S::other_zero_point, INT16_MIN, INT16_MAX));
    args.put(p.out_zero_point, args.code(S::output_zero_point));
    put_rescaling(args, p.multiplier, p.shift, S::output_multiplier, S::output_shift);
    args.require(p.multiplier >= 0);
    if (args.ok()) {
        o.run<int8_t>(cortexm_mul_s8_scalar, p);
    }
}

void quantized_div_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::quantized_div;
    Args args(context, values, S::kCount);
    const Operands o(args, S::self, S::other, S::out);
    const double scale = args.real(S::output_scale);
    cortexm_div_t p = {};

    args.require((o.out.type == ScalarType::Char || o.out.type == ScalarType::Short) && scale > 0 &&
                 scale <= static_cast<double>(FLT_MAX) && o.a.count == o.out.count &&
                 o.b.count == o.out.count);
    args.put(p.a_zero_point, args.integer(S::self_zero_point, INT16_MIN, INT16_MAX));
    args.put(p.b_zero_point, args.integer(S::other_zero_point, INT16_MIN, INT16_MAX));
    args.put(p.out_zero_point, args.integer(S::output_zero_point, INT16_MIN, INT16_MAX));
    p.scale = static_cast<float>(scale);
    if (!args.ok()) {
        return;
    }
    if (o.out.type == ScalarType::Char) {
        o.run<int8_t>(cortexm_div_s8_scalar, p);
    } else {
        o.run<int16_t>(cortexm_div_s16_scalar, p);
    }
}

#define CORTEXM_ET_EXTREMUM(name)                                                                  \
    void name##_out(KernelRuntimeContext &context, Span<EValue *> values)                          \
    {                                                                                              \
        using S = schema::name;                                                                    \
        Args args(context, values, S::kCount);                                                     \
        const Operands o(args, S::self, S::other, S::out);                                         \
                                                                                                   \
        if (!args.ok()) {                                                                          \
            return;                                                                                \
        }                                                                                          \
        switch (o.out.type) {                                                                      \
        case ScalarType::Char:                                                                     \
            return o.run<int8_t>(cortexm_##name##_s8_scalar, cortexm_minmax_t{});                  \
        case ScalarType::Short:                                                                    \
            return o.run<int16_t>(cortexm_##name##_s16_scalar, cortexm_minmax_t{});                \
        case ScalarType::Byte:                                                                     \
            return o.run<uint8_t>(cortexm_##name##_u8_scalar, cortexm_minmax_t{});                 \
        case ScalarType::Int:                                                                      \
            return extremum<int32_t>(o, cortexm_##name##_s32_scalar);                              \
        case ScalarType::Long:                                                                     \
            return extremum<int64_t>(o, cortexm_##name##_s64_scalar);                              \
        case ScalarType::Float:                                                                    \
            return extremum<float>(o, cortexm_##name##_f32_scalar);                                \
        default:                                                                                   \
            args.require(false);                                                                   \
        }                                                                                          \
    }

CORTEXM_ET_EXTREMUM(minimum)
CORTEXM_ET_EXTREMUM(maximum)

void quantized_activation_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::quantized_activation;
    Args args(context, values, S::kCount);
    const View in = args.tensor(S::input, ScalarType::Char);
    const View table = args.tensor(S::lut, ScalarType::Char);
    const View out = args.tensor(S::out, ScalarType::Char);
    const Walk walk = make_walk(args, out, in, in);

    args.require(in.count == out.count && table.count == 256 && table.is_contiguous());
    if (!args.ok()) {
        return;
    }
    each_run(walk, [&](const int32_t *at, int32_t count, const int32_t *) {
        const cortexm_activation_s8_t params = {count};

        cortexm_activation_s8_scalar(&params, in.as<const int8_t>() + at[1],
                                     table.as<const int8_t>(), out.as<int8_t>() + at[0]);
    });
}

void softmax_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::softmax;
    Args args(context, values, S::kCount);
    const View in = args.tensor(S::input, ScalarType::Char);
    const View out = args.tensor(S::out, ScalarType::Char);
    const int32_t dim = args.integer(S::dim, -in.rank, in.rank - 1);
    cortexm_softmax_s8_t params = {};

    args.require(in.rank >= 1 && in.rank == out.rank && in.count > 0 && args.code(S::output_zero_point) == INT8_MIN);
    if (!args.ok()) {
        return;
    }
    const int32_t along = dim < 0 ? dim + in.rank : dim;

    for (int32_t d = 0; d < in.rank; ++d) {
        args.require(in.sizes[d] == out.sizes[d] &&
                     (in.sizes[d] == 1 || in.strides[d] == out.strides[d]));
    }
    const int32_t size = in.sizes[along];
    const int32_t inner = size == 1 ? in.count : in.strides[along];

    args.put(params.size, size);
    args.put(params.inner, inner);
    args.put(params.outer, in.count / (size * inner));
    args.put(params.multiplier, args.integer(S::input_multiplier));
    args.put(params.shift, args.integer(S::input_shift, 0, 31));
    args.put(params.diff_min, args.integer(S::diff_min, INT32_MIN, 0));
    args.require(params.multiplier >= 0 && size < 1 << 13);
    if (args.ok()) {
        cortexm_softmax_s8_scalar(&params, in.as<const int8_t>(), out.as<int8_t>());
    }
}

} // namespace cortexm_et
