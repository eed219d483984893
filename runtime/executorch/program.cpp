/* SPDX-License-Identifier: Apache-2.0 */
#include "cortexm/executorch.h"

#include <cstring>
#include <new>
#include <utility>

#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include "cortexm/model.h"
#include "state.h"

namespace cortexm_et {
namespace {

using ::executorch::aten::TensorImpl;
using ::executorch::runtime::Error;
using ::executorch::runtime::EValue;
using ::executorch::runtime::Kernel;
using ::executorch::runtime::Program;
using ::executorch::runtime::Span;

State *state_of(void *arena)
{
    return std::launder(static_cast<State *>(arena));
}

/* Gives an input its place in the arena. ExecuTorch refuses to run before every input was set. */
Error place_input(State &state, size_t index, uint8_t *data, uint32_t size)
{
    const auto tag = state.method->method_meta().input_tag(index);

    if (!tag.ok()) {
        return tag.error();
    }
    if (tag.get() != ::executorch::runtime::Tag::Tensor) {
        /* A number: the program takes no other value than its own. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        return state.method->set_input(state.method->get_input(index), index);
#pragma GCC diagnostic pop
    }
    const auto info = state.method->method_meta().input_tensor_meta(index);

    if (!info.ok()) {
        return info.error();
    }
    if (info->nbytes() != size) {
        return Error::InvalidProgram;
    }
    TensorImpl impl(info->scalar_type(), static_cast<ssize_t>(info->sizes().size()),
                    const_cast<TensorImpl::SizesType *>(info->sizes().data()), data,
                    const_cast<TensorImpl::DimOrderType *>(info->dim_order().data()));

    /* A planned input is there already; copying it onto itself is how it gets set. */
    return state.method->set_input(EValue(::executorch::aten::Tensor(&impl)), index);
}

/* An output that the program leaves to the caller. */
Error place_output(State &state, size_t index, uint8_t *data, uint32_t size)
{
    const EValue &value = state.method->get_output(index);

    if (!value.isTensor()) {
        return Error::NotSupported;
    }
    if (value.toTensor().nbytes() != size) {
        return Error::InvalidProgram;
    }
    return value.toTensor().const_data_ptr() != nullptr
               ? Error::Ok
               : state.method->set_output_data_ptr(data, size, index);
}

Error load(const cortexm_et_program_t &p, uint8_t *arena, State &state)
{
    auto program = Program::load(&state.loader);

    if (!program.ok()) {
        return program.error();
    }
    state.program.emplace(std::move(program.get()));
    auto method = state.program->load_method(
        p.method, &state.manager, nullptr, nullptr, nullptr,
        Span<const Kernel>(static_cast<const Kernel *>(p.kernels), p.kernel_count));

    if (!method.ok()) {
        return method.error();
    }
    state.method.emplace(std::move(method.get()));
    if (state.method->inputs_size() != p.input_count ||
        state.method->outputs_size() != p.output_count) {
        return Error::InvalidProgram;
    }
    Error error = Error::Ok;

    for (uint32_t i = 0; i < p.input_count && error == Error::Ok; ++i) {
        error = place_input(state, i, arena + p.inputs[i].offset, p.inputs[i].size);
    }
    for (uint32_t i = 0; i < p.output_count && error == Error::Ok; ++i) {
        error = place_output(state, i, arena + p.outputs[i].offset, p.outputs[i].size);
    }
    return error;
}

/* Runs the method; an output that lies elsewhere (a view, a constant) is brought to its place. */
Error run(const cortexm_et_program_t &p, uint8_t *arena, State &state)
{
    const Error error = state.method->execute();

    if (error != Error::Ok) {
        return error;
    }
    for (uint32_t i = 0; i < p.output_count; ++i) {
        const auto &tensor = state.method->get_output(i).toTensor();
        uint8_t *const place = arena + p.outputs[i].offset;

        if (tensor.nbytes() != p.outputs[i].size) {
            return Error::InvalidState;
        }
        if (tensor.const_data_ptr() != place) {
            std::memmove(place, tensor.const_data_ptr(), p.outputs[i].size);
        }
    }
    return Error::Ok;
}

} // namespace
} // namespace cortexm_et

void cortexm_et_init(const cortexm_et_program_t *program, void *arena)
{
    using namespace cortexm_et;
    uint8_t *const base = static_cast<uint8_t *>(arena);
    auto *const spans = reinterpret_cast<Span<uint8_t> *>(base + program->spans.offset);

    ::executorch::runtime::runtime_init();
    for (uint32_t i = 0; i < program->planned_count; ++i) {
        const cortexm_et_pool_t &pool = program->planned[i];

        new (&spans[i]) Span<uint8_t>(base + pool.offset, pool.size);
        /* State whose initial value the program does not have begins at zero, as in a compiled plan. */
        std::memset(base + pool.offset, 0, pool.size);
    }
    /* State before it is only overwritten: nothing in it owns memory. */
    State *const state = new (arena)
        State(program->pte, program->pte_size, {spans, program->planned_count},
              base + program->method_pool.offset, program->method_pool.size,
              base + program->temp_pool.offset, program->temp_pool.size);

    state->error = static_cast<uint32_t>(load(*program, base, *state));
}

void cortexm_et_invoke(const cortexm_et_program_t *program, void *arena)
{
    using namespace cortexm_et;
    State *const state = state_of(arena);

    if (state->method.has_value()) {
        state->error = static_cast<uint32_t>(run(*program, static_cast<uint8_t *>(arena), *state));
    }
}

uint32_t cortexm_et_error(const void *arena)
{
    uint32_t error;

    std::memcpy(&error, arena, sizeof error);
    return error;
}

int cortexm_et_status(const void *arena)
{
    return cortexm_et_error(arena) == 0U ? CORTEXM_OK : CORTEXM_ERR_RUNTIME;
}
