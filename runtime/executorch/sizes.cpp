/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sizes of what ExecuTorch's runtime puts into its pools, for the compiler, the options and the
 * version of ExecuTorch that the image is built with. The tools find the table in the object file by
 * its mark (cortexm_tools/executorch/sizes.py, same order) and compute the pools from it.
 */
#include <cstdint>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include "state.h"

namespace cortexm_et {
namespace {

using namespace ::executorch::runtime;
using ::executorch::aten::ArrayRef;
using ::executorch::aten::Tensor;
using ::executorch::aten::TensorImpl;

/* Private to ExecuTorch's runtime/executor/method.cpp. */
struct BackendDelegate {
    FreeableBuffer segment;
    const void *backend;
    void *handle;
};

struct Chain {
    const void *s_chain;
    Span<InstructionArgs> argument_lists;
    OpFunction *kernels;
};

struct Entry {
    std::uint32_t size, align;
};

template <typename T>
constexpr Entry entry()
{
    return {sizeof(T), alignof(T)};
}

} // namespace

struct Sizes {
    char mark[25];
    std::uint32_t count;
    Entry entries[18];
};

extern const Sizes cortexm_et_sizes;
__attribute__((used)) const Sizes cortexm_et_sizes = {
    "cortexm:executorch:sizes",
    18,
    {
        entry<State>(),
        entry<Span<std::uint8_t>>(),
        entry<EValue>(),
        entry<EValue *>(),
        entry<bool>(),
        entry<std::int64_t>(),
        entry<BoxedEvalueList<std::int64_t>>(),
        entry<ArrayRef<bool>>(),
        entry<Tensor>(),
        entry<BoxedEvalueList<Tensor>>(),
        entry<std::optional<Tensor>>(),
        entry<BoxedEvalueList<std::optional<Tensor>>>(),
        entry<TensorImpl>(),
        entry<BackendDelegate>(),
        entry<Chain>(),
        entry<OpFunction>(),
        entry<InstructionArgs>(),
        entry<TensorMeta>(),
    },
};

} // namespace cortexm_et
