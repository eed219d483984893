/* SPDX-License-Identifier: Apache-2.0 */
/* Transposition and padding of the cortex_m dialect: strided copies. */
#include "args.h"
#include "cortexm/executorch_operators.h"
#include "schemas.h"

#include "cortexm/kernels.h"

namespace cortexm_et {
namespace {

void copy(Args &args, ScalarType type, const cortexm_copy_t &box, const void *in, void *out)
{
    switch (type) {
    case ScalarType::Char:
    case ScalarType::Byte:
    case ScalarType::Bool:
        return cortexm_copy_x8_scalar(&box, in, out);
    case ScalarType::Short:
        return cortexm_copy_x16_scalar(&box, in, out);
    case ScalarType::Int:
    case ScalarType::Float:
        return cortexm_copy_x32_scalar(&box, in, out);
    case ScalarType::Long:
        return cortexm_copy_x64_scalar(&box, in, out);
    default:
        args.require(false);
    }
}

} // namespace

void transpose_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    using S = schema::transpose;
    Args args(context, values, S::kCount);
    const View in = args.tensor(S::input);
    const View out = args.tensor(S::out, in.type);
    int32_t perm[kMaxRank] = {};
    cortexm_copy_t box = {};
    uint32_t seen = 0;

    args.require(args.integers(S::perm, perm, kMaxRank) == in.rank && in.rank == out.rank);
    args.put(box.rank, in.rank);
    for (int32_t d = 0; args.ok() && d < in.rank; ++d) {
        const int32_t from = perm[d] < 0 ? perm[d] + in.rank : perm[d];

        args.require(from >= 0 && from < in.rank && (seen & 1U << from) == 0U);
        if (!args.ok()) {
            return;
        }
        seen |= 1U << from;
        args.require(out.sizes[d] == in.sizes[from]);
        args.put(box.dims[d], out.sizes[d]);
        args.put(box.in_stride[d], in.strides[from]);
        args.put(box.out_stride[d], out.strides[d]);
    }
    if (args.ok() && in.count > 0) {
        copy(args, in.type, box, in.data, out.data);
    }
}

/*
 * The paddings have four entries, aligned at the innermost dimension. For an image that counts as
 * channels_last those of `pad` are in the order N, H, W, C. An image counts so by its dim order, and
 * whenever the two layouts are the same (one channel, or one pixel). `pad_contiguous` takes no other
 * order in memory than the logical one.
 */
static void pad_with(KernelRuntimeContext &context, Span<EValue *> values, bool contiguous)
{
    using S = schema::pad;
    Args args(context, values, S::kCount);
    const View in = args.tensor(S::input);
    const View out = args.tensor(S::out, in.type);
    const bool is_byte = in.type == ScalarType::Char;
    int32_t before[4] = {};
    int32_t after[4] = {};
    cortexm_copy_t box = {};
    int32_t start = 0;

    args.require(args.integers(S::pre_pad, before, 4) == 4 &&
                 args.integers(S::post_pad, after, 4) == 4);
    args.require(in.rank >= 1 && in.rank <= 4 && in.rank == out.rank);
    args.require(is_byte || in.type == ScalarType::Short);
    const int32_t value = is_byte ? args.code(S::pad_value)
                                  : args.integer(S::pad_value, INT16_MIN, INT16_MAX);

    if (!args.ok()) {
        return;
    }
    const bool same = in.rank == 4 && (in.sizes[1] == 1 || (in.sizes[2] == 1 && in.sizes[3] == 1));
    const bool last = !contiguous && in.rank == 4 && (same || in.strides[1] == 1);
    const int32_t nhwc[4] = {0, 3, 1, 2};

    args.require(!contiguous || (in.is_contiguous() && out.is_contiguous()));
    for (int32_t d = 0; d < 4 - in.rank; ++d) {
        args.require(before[d] == 0 && after[d] == 0);
    }
    args.put(box.rank, in.rank);
    for (int32_t d = 0; d < in.rank; ++d) {
        const int32_t entry = last ? nhwc[d] : 4 - in.rank + d;

        args.require(before[entry] >= 0 && after[entry] >= 0 &&
                     int64_t{before[entry]} + in.sizes[d] + after[entry] == out.sizes[d]);
        args.put(box.dims[d], in.sizes[d]);
        args.put(box.in_stride[d], in.strides[d]);
        args.put(box.out_stride[d], out.strides[d]);
        start += args.ok() ? before[entry] * out.strides[d] : 0;
    }
    if (!args.ok()) {
        return;
    }
    cortexm_fill_t fill = {};

    args.put(fill.count, out.count);
    args.put(fill.value, value);

    if (is_byte) {
        cortexm_fill_x8_scalar(&fill, out.data);
    } else {
        cortexm_fill_x16_scalar(&fill, out.data);
    }
    if (in.count > 0) {
        copy(args, in.type, box, in.data, out.as<int8_t>() + (is_byte ? start : 2 * start));
    }
}

void pad_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    pad_with(context, values, false);
}

void pad_contiguous_out(KernelRuntimeContext &context, Span<EValue *> values)
{
    pad_with(context, values, true);
}

} // namespace cortexm_et
