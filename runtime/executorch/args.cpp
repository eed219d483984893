/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <cmath>

namespace cortexm_et {

bool View::is_contiguous() const
{
    int32_t stride = 1;

    for (int32_t d = rank; d-- > 0;) {
        if (sizes[d] != 1 && strides[d] != stride) {
            return false;
        }
        stride *= sizes[d];
    }
    return true;
}

Args::Args(KernelRuntimeContext &context, Span<EValue *> values, size_t count)
    : context_(context), values_(values)
{
    require(values.size() == count || values.size() == count + 1);
    if (!ok_) {
        values_ = Span<EValue *>();
    }
}

void Args::require(bool condition)
{
    if (!condition && ok_) {
        ok_ = false;
        context_.fail(Error::InvalidArgument);
    }
}

int32_t Args::integer(size_t index, int32_t lowest, int32_t highest)
{
    require(index < values_.size() && values_[index]->isInt());
    if (!ok_) {
        return 0;
    }
    const int64_t value = values_[index]->toInt();
    require(value >= lowest && value <= highest);
    return ok_ ? static_cast<int32_t>(value) : 0;
}

cortexm_et_rescaling_t Args::rescaling(size_t multiplier, size_t shift)
{
    return cortexm_et_rescaling(integer(multiplier, -INT32_MAX), integer(shift, INT32_MIN, 30));
}

double Args::real(size_t index)
{
    require(index < values_.size() && (values_[index]->isDouble() || values_[index]->isInt()));
    if (!ok_) {
        return 1.0;
    }
    const double value = values_[index]->isDouble() ? values_[index]->toDouble()
                                                    : static_cast<double>(values_[index]->toInt());
    require(std::isfinite(value));
    return value;
}

bool Args::is_none(size_t index) const
{
    return index < values_.size() && values_[index]->isNone();
}

View Args::tensor(size_t index)
{
    View view;

    require(index < values_.size() && values_[index]->isTensor());
    if (!ok_) {
        return view;
    }
    const auto &tensor = values_[index]->toTensor();
    require(tensor.dim() <= kMaxRank && tensor.numel() <= INT32_MAX);
    require(tensor.numel() == 0 || tensor.const_data_ptr() != nullptr);
    if (!ok_) {
        return view;
    }
    view.data = const_cast<void *>(tensor.const_data_ptr());
    view.type = tensor.scalar_type();
    view.rank = static_cast<int32_t>(tensor.dim());
    view.count = static_cast<int32_t>(tensor.numel());
    for (int32_t d = 0; d < view.rank; ++d) {
        view.sizes[d] = static_cast<int32_t>(tensor.size(d));
        view.strides[d] = static_cast<int32_t>(tensor.strides()[static_cast<size_t>(d)]);
    }
    return view;
}

View Args::tensor(size_t index, ScalarType type)
{
    const View view = tensor(index);

    require(view.type == type);
    return view;
}

const int32_t *Args::words(size_t index, int32_t count, bool optional)
{
    if (optional && is_none(index)) {
        return nullptr;
    }
    const View view = tensor(index, ScalarType::Int);
    require(view.count == count && view.is_contiguous());
    return view.as<const int32_t>();
}

int32_t Args::integers(size_t index, int32_t *list, int32_t most)
{
    require(index < values_.size() && values_[index]->isIntList());
    if (!ok_) {
        return 0;
    }
    const auto items = values_[index]->toIntList();
    require(items.size() <= static_cast<size_t>(most));
    if (!ok_) {
        return 0;
    }
    for (size_t i = 0; i < items.size(); ++i) {
        require(items[i] >= INT32_MIN && items[i] <= INT32_MAX);
        list[i] = static_cast<int32_t>(items[i]);
    }
    return static_cast<int32_t>(items.size());
}

Pair Args::pair(size_t index, int32_t lowest)
{
    int32_t list[2] = {};
    const int32_t count = integers(index, list, 2);
    const Pair pair = {list[0], count == 2 ? list[1] : list[0]};

    require(count >= 1 && pair.h >= lowest && pair.w >= lowest && pair.h <= 1 << 15 &&
            pair.w <= 1 << 15);
    return pair;
}

Image Args::image(size_t index, bool nhwc)
{
    const View view = tensor(index, ScalarType::Char);
    const int32_t order[4] = {0, nhwc ? 1 : 2, nhwc ? 2 : 3, nhwc ? 3 : 1};
    Image image;

    require(view.rank == 4);
    image.data = view.as<int8_t>();
    for (int32_t d = 0; d < 4; ++d) {
        image.sizes[d] = view.sizes[order[d]];
        image.strides[d] = view.strides[order[d]];
    }
    return image;
}

} // namespace cortexm_et
