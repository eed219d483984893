/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that the build has compiled: one operator with the shapes and numbers of one call of the
 * program. Written by cortexm_tools/executorch/operators.py.
 */
#ifndef CORTEXM_EXECUTORCH_VARIANTS_H
#define CORTEXM_EXECUTORCH_VARIANTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const int32_t *signature;       /* what the arguments must be */
    const uint8_t *const *constants; /* bytes that constant tensors must hold, in order */
    uint32_t tensor_count;          /* tensors among the arguments */
    uint32_t temp;                  /* bytes of temporary memory, a multiple of 16 */
    void (*run)(void *const *tensors, uint8_t *temp);
} cortexm_et_variant_t;

#ifdef __cplusplus
}

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace cortexm_et {

/* Runs the variant that has the signature of `values`; fails with NotSupported if none has. */
void call_variant(::executorch::runtime::KernelRuntimeContext &context,
                  ::executorch::runtime::Span<::executorch::runtime::EValue *> values,
                  const cortexm_et_variant_t *variants, uint32_t count);

} // namespace cortexm_et
#endif

#endif
