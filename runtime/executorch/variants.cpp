/* SPDX-License-Identifier: Apache-2.0 */
#include "cortexm/executorch_variants.h"

#include <cstring>

namespace cortexm_et {
namespace {

using ::executorch::aten::Tensor;
using ::executorch::runtime::Error;
using ::executorch::runtime::EValue;
using ::executorch::runtime::KernelRuntimeContext;
using ::executorch::runtime::Span;

/* The kinds of argument; the same numbers as in operators.py. */
enum Kind : int32_t {
    kNone,
    kInt,
    kBool,
    kDouble,
    kTensor,
    kString,
    kInts,
    kDoubles,
    kBools,
    kTensors,
    kConstant,
};

/* Compares arguments with a signature word by word, and takes down where the tensors lie. */
class Matcher {
public:
    Matcher(const cortexm_et_variant_t &variant, void **tensors)
        : word_(variant.signature), constants_(variant.constants), tensors_(tensors)
    {
    }

    bool match(Span<EValue *> values)
    {
        const auto count = static_cast<size_t>(*word_++);

        /* The value that the operator returns may stand behind its arguments. */
        if (values.size() != count && values.size() != count + 1) {
            return false;
        }
        for (size_t i = 0; i < count; ++i) {
            if (!argument(*values[i])) {
                return false;
            }
        }
        return true;
    }

private:
    template <typename T>
    bool wide(T value)
    {
        int32_t halves[2];

        static_assert(sizeof value == sizeof halves, "two words");
        std::memcpy(halves, &value, sizeof halves);
        const bool same = word_[0] == halves[0] && word_[1] == halves[1];
        word_ += 2;
        return same;
    }

    bool word(int32_t value) { return *word_++ == value; }

    bool tensor(const Tensor &t, bool is_constant)
    {
        const auto rank = static_cast<int32_t>(t.dim());

        if (!word(static_cast<int32_t>(t.scalar_type())) || !word(rank)) {
            return false;
        }
        for (int32_t d = 0; d < rank; ++d) {
            if (!word(static_cast<int32_t>(t.size(d)))) {
                return false;
            }
        }
        for (int32_t d = 0; d < rank; ++d) {
            if (!word(static_cast<int32_t>(t.dim_order()[static_cast<size_t>(d)]))) {
                return false;
            }
        }
        if (t.nbytes() > 0 && t.const_data_ptr() == nullptr) {
            return false;
        }
        *tensors_++ = const_cast<void *>(t.const_data_ptr());
        return !is_constant || std::memcmp(*constants_++, t.const_data_ptr(), t.nbytes()) == 0;
    }

    template <typename Items>
    bool tensors(const Items &items)
    {
        if (!word(static_cast<int32_t>(items.size()))) {
            return false;
        }
        for (size_t i = 0; i < items.size(); ++i) {
            const int32_t kind = *word_++;

            if (!item(items[i], kind)) {
                return false;
            }
        }
        return true;
    }

    bool item(const Tensor &t, int32_t kind)
    {
        return (kind == kTensor || kind == kConstant) && tensor(t, kind == kConstant);
    }

    bool item(const std::optional<Tensor> &t, int32_t kind)
    {
        return t.has_value() ? item(*t, kind) : kind == kNone;
    }

    template <typename Items, typename Compare>
    bool list(const Items &items, Compare compare)
    {
        if (!word(static_cast<int32_t>(items.size()))) {
            return false;
        }
        for (size_t i = 0; i < items.size(); ++i) {
            if (!compare(items[i])) {
                return false;
            }
        }
        return true;
    }

    bool argument(const EValue &value)
    {
        switch (*word_++) {
        case kNone:
            return value.isNone();
        case kInt:
            return value.isInt() && wide(value.toInt());
        case kBool:
            return value.isBool() && word(value.toBool() ? 1 : 0);
        case kDouble:
            return value.isDouble() && wide(value.toDouble());
        case kTensor:
            return value.isTensor() && tensor(value.toTensor(), false);
        case kConstant:
            return value.isTensor() && tensor(value.toTensor(), true);
        case kString:
            return value.isString() && list(value.toString(), [&](char c) {
                       return word(static_cast<uint8_t>(c));
                   });
        case kInts:
            return value.isIntList() &&
                   list(value.toIntList(), [&](int64_t number) { return wide(number); });
        case kDoubles:
            return value.isDoubleList() &&
                   list(value.toDoubleList(), [&](double number) { return wide(number); });
        case kBools:
            return value.isBoolList() &&
                   list(value.toBoolList(), [&](bool flag) { return word(flag ? 1 : 0); });
        case kTensors:
            return value.isTensorList() ? tensors(value.toTensorList())
                                        : value.isListOptionalTensor() &&
                                              tensors(value.toListOptionalTensor());
        default:
            return false;
        }
    }

    const int32_t *word_;
    const uint8_t *const *constants_;
    void **tensors_;
};

} // namespace

void call_variant(KernelRuntimeContext &context, Span<EValue *> values,
                  const cortexm_et_variant_t *variants, uint32_t count)
{
    uint32_t most = 0;
    uint32_t temp = 0;

    for (uint32_t i = 0; i < count; ++i) {
        most = variants[i].tensor_count > most ? variants[i].tensor_count : most;
        temp = variants[i].temp > temp ? variants[i].temp : temp;
    }
    /* The addresses of the tensors lie behind the kernels' temporary memory. */
    const auto memory = context.allocate_temp(temp + most * sizeof(void *), 16);

    if (!memory.ok()) {
        context.fail(memory.error());
        return;
    }
    uint8_t *const begin = static_cast<uint8_t *>(memory.get());
    void **const tensors = reinterpret_cast<void **>(begin + temp);

    for (uint32_t i = 0; i < count; ++i) {
        if (Matcher(variants[i], tensors).match(values)) {
            variants[i].run(tensors, begin);
            return;
        }
    }
    context.fail(Error::NotSupported);
}

} // namespace cortexm_et
