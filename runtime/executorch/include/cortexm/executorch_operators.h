/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of ExecuTorch's cortex_m dialect, with this project's kernels behind them. Each reads
 * everything from its arguments, so it serves any program, also one that is loaded at run time.
 * Their schemas are ExecuTorch's (backends/cortex_m/ops/operators.yaml there).
 */
#ifndef CORTEXM_EXECUTORCH_OPERATORS_H
#define CORTEXM_EXECUTORCH_OPERATORS_H

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace cortexm_et {

/* The operators by name, without namespace and overload: cortex_m::<name>.out. */
#define CORTEXM_ET_OPERATORS(X)                                                                    \
    X(dequantize_per_tensor)                                                                       \
    X(maximum)                                                                                     \
    X(minimum)                                                                                     \
    X(pad)                                                                                         \
    X(pad_contiguous)                                                                              \
    X(quantize_per_tensor)                                                                         \
    X(quantized_activation)                                                                        \
    X(quantized_add)                                                                               \
    X(quantized_avg_pool2d)                                                                        \
    X(quantized_avg_pool2d_nhwc)                                                                   \
    X(quantized_batch_matmul)                                                                      \
    X(quantized_conv2d)                                                                            \
    X(quantized_conv2d_nhwc)                                                                       \
    X(quantized_depthwise_conv2d)                                                                  \
    X(quantized_depthwise_conv2d_nhwc)                                                             \
    X(quantized_div)                                                                               \
    X(quantized_linear)                                                                            \
    X(quantized_max_pool2d)                                                                        \
    X(quantized_max_pool2d_nhwc)                                                                   \
    X(quantized_mul)                                                                               \
    X(quantized_transpose_conv2d)                                                                  \
    X(quantized_transpose_conv2d_nhwc)                                                             \
    X(softmax)                                                                                     \
    X(transpose)

#define CORTEXM_ET_DECLARE(name)                                                                   \
    void name##_out(::executorch::runtime::KernelRuntimeContext &context,                          \
                    ::executorch::runtime::Span<::executorch::runtime::EValue *> values);
CORTEXM_ET_OPERATORS(CORTEXM_ET_DECLARE)
#undef CORTEXM_ET_DECLARE

/* Registers those of `kernels` whose names ExecuTorch's runtime has no kernel for yet. */
::executorch::runtime::Error register_missing(
    ::executorch::runtime::Span<const ::executorch::runtime::Kernel> kernels);

/* Registers all of them with ExecuTorch's runtime, but for names that have a kernel already. For an
 * application that loads programs at run time. */
::executorch::runtime::Error register_all();

} // namespace cortexm_et

#endif
