/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and pools of the cortex_m dialect. */
#include "args.h"
#include "cortexm/executorch_operators.h"
#include "schemas.h"
#include "unpacked.h"

namespace cortexm_et {
namespace {

cortexm_et_image_t plain(const Image &image)
{
    cortexm_et_image_t result = {image.data, {}, {}};

    for (int32_t d = 0; d < 4; ++d) {
        result.sizes[d] = image.sizes[d];
        result.strides[d] = image.strides[d];
    }
    return result;
}

/* Every window has a pixel in the image, as a padding of less than a window gives it. */
bool windows_meet(int32_t in, int32_t out, int32_t reach, int32_t stride, int32_t pad)
{
    return out >= 1 && in >= 1 && reach > pad && (out - 1) * stride < in + pad;
}

void set_windows(Args &args, cortexm_et_windows_t &w, const Image &in, const Image &out, Pair kernel,
                 Pair stride, Pair padding, Pair dilation)
{
    w.in = plain(in);
    w.out = plain(out);
    w.kernel_h = kernel.h;
    w.kernel_w = kernel.w;
    w.stride_h = stride.h;
    w.stride_w = stride.w;
    w.pad_h = padding.h;
    w.pad_w = padding.w;
    w.dilation_h = dilation.h;
    w.dilation_w = dilation.w;
    args.require(in.sizes[0] == out.sizes[0]);
}

/* No position outside of [-2^30, 2^30] can occur, and with `meet` no window without a pixel. */
void check_windows(Args &args, const cortexm_et_windows_t &w, bool meet)
{
    const int64_t limit = 1 << 30;

    for (int32_t d = 0; d < 4; ++d) {
        args.require(w.in.sizes[d] >= 1 && w.in.sizes[d] < 1 << 16 && w.out.sizes[d] >= 1 &&
                     w.out.sizes[d] < 1 << 16);
    }
    if (!args.ok()) {
        return;
    }
    args.require(int64_t{w.dilation_h} * w.kernel_h < limit && int64_t{w.dilation_w} * w.kernel_w < limit &&
                 int64_t{w.out.sizes[1]} * w.stride_h < limit && int64_t{w.out.sizes[2]} * w.stride_w < limit);
    if (args.ok() && meet) {
        args.require(windows_meet(w.in.sizes[1], w.out.sizes[1], (w.kernel_h - 1) * w.dilation_h + 1,
                                  w.stride_h, w.pad_h) &&
                     windows_meet(w.in.sizes[2], w.out.sizes[2], (w.kernel_w - 1) * w.dilation_w + 1,
                                  w.stride_w, w.pad_w));
    }
}

enum class Kind { plain, depthwise, transposed };

/* Where the arguments of a convolution stand, by its schema. */
struct Places {
    uint8_t input, weight, bias, stride, padding, dilation, input_offset, output_offset;
    uint8_t multipliers, shifts, act_min, act_max, out, count;
};

template <typename S>
constexpr Places places()
{
    return {S::input, S::weight, S::bias, S::stride, S::padding, S::dilation, S::input_offset,
            S::output_offset, S::requantize_multipliers, S::requantize_shifts, S::activation_min,
            S::activation_max, S::out, S::kCount};
}

using Depthwise = schema::quantized_depthwise_conv2d;

/* By kind. */
constexpr Places kPlaces[] = {places<schema::quantized_conv2d>(), places<Depthwise>(),
                              places<schema::quantized_transpose_conv2d>()};

void convolution(KernelRuntimeContext &context, Span<EValue *> values, Kind kind, bool nhwc)
{
    const Places &at = kPlaces[static_cast<size_t>(kind)];
    Args args(context, values, at.count);
    const Image in = args.image(at.input, nhwc);
    const Image out = args.image(at.out, nhwc);
    const View weight = args.tensor(at.weight, ScalarType::Char);
    const int32_t out_c = out.sizes[3];
    cortexm_et_conv_t c = {};

    args.require(weight.rank == 4 && weight.is_contiguous());
    c.weight = weight.as<const int8_t>();
    c.bias = args.words(at.bias, out_c, true);
    set_windows(args, c.windows, in, out, {weight.sizes[1], weight.sizes[2]}, args.pair(at.stride, 1),
                args.pair(at.padding, 0), args.pair(at.dilation, 1));
    c.in_offset = args.integer(at.input_offset, -INT8_MAX, -INT8_MIN);
    c.out_offset = args.code(at.output_offset);
    c.multiplier = args.words(at.multipliers, out_c);
    c.shift = args.words(at.shifts, out_c);
    c.act_min = args.code(at.act_min);
    c.act_max = args.code(at.act_max);
    check_windows(args, c.windows, false);
    if (kind == Kind::depthwise) {
        args.require(weight.sizes[0] == 1 && weight.sizes[3] == out_c &&
                     out_c == in.sizes[3] * args.integer(Depthwise::depth_multiplier, 1, 1 << 16));
    } else {
        c.depth = weight.sizes[3];
        args.require(weight.sizes[0] == out_c && c.depth >= 1);
        if (args.ok() && kind == Kind::plain) {
            args.require(in.sizes[3] % c.depth == 0 && out_c % (in.sizes[3] / c.depth) == 0);
        } else {
            args.require(c.depth == in.sizes[3]);
        }
    }
    for (int32_t o = 0; args.ok() && o < out_c; ++o) {
        args.require(c.multiplier[o] >= 0 && c.shift[o] <= 30);
    }
    if (!args.ok()) {
        return;
    }
    switch (kind) {
    case Kind::plain:
        cortexm_et_conv2d(&c);
        break;
    case Kind::depthwise:
        cortexm_et_depthwise_conv2d(&c);
        break;
    case Kind::transposed:
        cortexm_et_transpose_conv2d(&c);
        break;
    }
}

/* A pool's stride; an empty list means the kernel size. */
Pair pool_stride(Args &args, size_t index, Pair kernel)
{
    int32_t list[2];

    return args.integers(index, list, 2) == 0 ? kernel : args.pair(index, 1);
}

void avg_pool(KernelRuntimeContext &context, Span<EValue *> values, bool nhwc)
{
    using S = schema::quantized_avg_pool2d;
    Args args(context, values, S::kCount);
    const Pair kernel = args.pair(S::kernel_size, 1);
    const Image in = args.image(S::input, nhwc);
    const Image out = args.image(S::out, nhwc);
    cortexm_et_windows_t w;

    set_windows(args, w, in, out, kernel, pool_stride(args, S::stride, kernel),
                args.pair(S::padding, 0), {1, 1});
    args.require(in.sizes[3] == out.sizes[3]);
    check_windows(args, w, true);
    if (args.ok()) {
        cortexm_et_avg_pool2d(&w);
    }
}

void max_pool(KernelRuntimeContext &context, Span<EValue *> values, bool nhwc)
{
    using S = schema::quantized_max_pool2d;
    Args args(context, values, S::kCount);
    const Pair kernel = args.pair(S::kernel_size, 1);
    const Image in = args.image(S::input, nhwc);
    const Image out = args.image(S::out, nhwc);
    const int32_t act_min = args.code(S::activation_min);
    const int32_t act_max = args.code(S::activation_max);
    cortexm_et_windows_t w;

    set_windows(args, w, in, out, kernel, pool_stride(args, S::stride, kernel),
                args.pair(S::padding, 0), args.pair(S::dilation, 1));
    args.require(in.sizes[3] == out.sizes[3] &&
                 args.integer(S::input_zero_point) == args.integer(S::output_zero_point));
    check_windows(args, w, true);
    if (args.ok()) {
        cortexm_et_max_pool2d(&w, act_min, act_max);
    }
}

} // namespace

void quantized_conv2d_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    convolution(context, values, Kind::plain, false);
}

void quantized_conv2d_nhwc_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    convolution(context, values, Kind::plain, true);
}

void quantized_depthwise_conv2d_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    convolution(context, values, Kind::depthwise, false);
}

void quantized_depthwise_conv2d_nhwc_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    convolution(context, values, Kind::depthwise, true);
}

void quantized_transpose_conv2d_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    convolution(context, values, Kind::transposed, false);
}

void quantized_transpose_conv2d_nhwc_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    convolution(context, values, Kind::transposed, true);
}

void quantized_avg_pool2d_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    avg_pool(context, values, false);
}

void quantized_avg_pool2d_nhwc_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    avg_pool(context, values, true);
}

void quantized_max_pool2d_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    max_pool(context, values, false);
}

void quantized_max_pool2d_nhwc_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    max_pool(context, values, true);
}

} // namespace cortexm_et
