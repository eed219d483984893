/* SPDX-License-Identifier: Apache-2.0 */
/* What lies at the begin of the arena of a model with RUNTIME executorch. */
#ifndef CORTEXM_EXECUTORCH_STATE_H
#define CORTEXM_EXECUTORCH_STATE_H

#include <cstdint>
#include <optional>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>

namespace cortexm_et {

struct State {
    std::uint32_t error = 0; /* first, so that C code can read it */
    ::executorch::extension::BufferDataLoader loader;
    ::executorch::runtime::MemoryAllocator method_allocator;
    ::executorch::runtime::MemoryAllocator temp_allocator;
    ::executorch::runtime::HierarchicalAllocator planned;
    ::executorch::runtime::MemoryManager manager;
    std::optional<::executorch::runtime::Program> program;
    std::optional<::executorch::runtime::Method> method;

    State(const void *pte, std::size_t pte_size,
          ::executorch::runtime::Span<::executorch::runtime::Span<std::uint8_t>> buffers,
          std::uint8_t *method_pool, std::uint32_t method_pool_size, std::uint8_t *temp_pool,
          std::uint32_t temp_pool_size)
        : loader(pte, pte_size), method_allocator(method_pool_size, method_pool),
          temp_allocator(temp_pool_size, temp_pool), planned(buffers),
          manager(&method_allocator, &planned, &temp_allocator)
    {
    }
};

} // namespace cortexm_et

#endif
