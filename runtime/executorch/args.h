/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of an operator as ExecuTorch passes them: checked one by one, so that no program can make
 * a kernel leave its operands. The first check that fails makes the call fail with InvalidArgument.
 */
#ifndef CORTEXM_EXECUTORCH_ARGS_H
#define CORTEXM_EXECUTORCH_ARGS_H

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include "unpacked.h"

namespace cortexm_et {

using ::executorch::aten::ScalarType;
using ::executorch::runtime::Error;
using ::executorch::runtime::EValue;
using ::executorch::runtime::KernelRuntimeContext;
using ::executorch::runtime::Span;

/* Kernels walk boxes of up to so many dimensions. */
constexpr int32_t kMaxRank = 8;

/* Where a tensor lies and how: logical sizes, and the strides of its dim order, in elements. */
struct View {
    void *data = nullptr;
    ScalarType type = ScalarType::Undefined;
    int32_t rank = 0;
    int32_t count = 0;
    int32_t sizes[kMaxRank] = {};
    int32_t strides[kMaxRank] = {};

    template <typename T>
    T *as() const
    {
        return static_cast<T *>(data);
    }
    /* Whether the elements lie in C order. */
    bool is_contiguous() const;
};

/* An image, whichever way its operator states the shape: batch, row, column, channel. */
struct Image {
    int8_t *data = nullptr;
    int32_t sizes[4] = {};
    int32_t strides[4] = {};
};

struct Pair {
    int32_t h = 0, w = 0;
};

class Args {
public:
    /* `count` arguments, results included; the value that the operator returns may stand behind. */
    Args(KernelRuntimeContext &context, Span<EValue *> values, size_t count);

    bool ok() const { return ok_; }
    void require(bool condition);

    int32_t integer(size_t index, int32_t lowest = INT32_MIN, int32_t highest = INT32_MAX);
    int32_t code(size_t index) { return integer(index, INT8_MIN, INT8_MAX); }
    double real(size_t index);
    /* A multiplier, of any sign (a subtraction is an addition with a negative one), and its shift. */
    cortexm_et_rescaling_t rescaling(size_t multiplier, size_t shift);
    bool is_none(size_t index) const;
    View tensor(size_t index);
    View tensor(size_t index, ScalarType type);
    /* int32 tensor of `count` elements in C order; with `optional` also none, which gives nullptr. */
    const int32_t *words(size_t index, int32_t count, bool optional = false);
    /* int list: at most `most` entries into `list`; returns how many there are. */
    int32_t integers(size_t index, int32_t *list, int32_t most);
    /* (height, width); one entry stands for both */
    Pair pair(size_t index, int32_t lowest);
    Image image(size_t index, bool nhwc);

    /* field = value, which must fit: fields of parameter blocks are as small as their range allows. */
    template <typename T>
    void put(T &field, int64_t value)
    {
        field = static_cast<T>(value);
        require(field == value);
    }

private:
    KernelRuntimeContext &context_;
    Span<EValue *> values_;
    bool ok_ = true;
};

} // namespace cortexm_et

#endif
