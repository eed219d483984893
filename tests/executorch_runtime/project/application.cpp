/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One model three times: compiled; by the same functions on ExecuTorch's runtime; and by ExecuTorch's
 * own API with the .pte that is linked and our operators registered globally.
 */
#include <cstdio>
#include <cstring>
#include <vector>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include "mixed.h"
#include "mixed_plan.h"

using namespace executorch::runtime;

static int check(bool condition, const char *what)
{
    std::printf("%s: %s\n", what, condition ? "yes" : "NO");
    return condition ? 0 : 1;
}

static std::vector<float> run(const cortexm_model_t &model, int *failed)
{
    *failed += check(cortexm_init(&model, nullptr, 0) == CORTEXM_OK, "init");
    float *const in = static_cast<float *>(cortexm_input(&model, nullptr, 0).data);
    for (int i = 0; i < MIXED_INPUT_0_COUNT; ++i) {
        in[i] = static_cast<float>(i % 17) / 8.0f - 1.0f;
    }
    *failed += check(cortexm_invoke(&model, nullptr) == CORTEXM_OK, "invoke");
    const float *const out = static_cast<const float *>(cortexm_output(&model, nullptr, 0).data);
    return std::vector<float>(out, out + MIXED_OUTPUT_0_COUNT);
}

static std::vector<float> run_with_executorch(int *failed)
{
    static uint8_t method_pool[65536], planned[65536], temp[65536];
    std::vector<float> values(MIXED_INPUT_0_COUNT);

    runtime_init();
    *failed += check(mixed_register_operators() == 0, "registered");
    executorch::extension::BufferDataLoader loader(mixed_pte, mixed_pte_size);
    Result<Program> program = Program::load(&loader);
    MemoryAllocator method_allocator(sizeof method_pool, method_pool);
    MemoryAllocator temp_allocator(sizeof temp, temp);
    Span<uint8_t> buffer(planned, sizeof planned);
    HierarchicalAllocator planned_memory({&buffer, 1});
    MemoryManager manager(&method_allocator, &planned_memory, &temp_allocator);
    Result<Method> method = program->load_method("forward", &manager);
    *failed += check(method.ok(), "method loaded");
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 17) / 8.0f - 1.0f;
    }
    const auto info = method->method_meta().input_tensor_meta(0);
    executorch::aten::TensorImpl impl(
        info->scalar_type(), static_cast<ssize_t>(info->sizes().size()),
        const_cast<int32_t *>(info->sizes().data()), values.data(),
        const_cast<uint8_t *>(info->dim_order().data()));
    *failed += check(method->set_input(EValue(executorch::aten::Tensor(&impl)), 0) == Error::Ok, "input");
    *failed += check(method->execute() == Error::Ok, "executed");
    const float *const out = method->get_output(0).toTensor().const_data_ptr<float>();
    return std::vector<float>(out, out + MIXED_OUTPUT_0_COUNT);
}

int main()
{
    int failed = 0;
    const std::vector<float> compiled = run(mixed_plan, &failed);
    const std::vector<float> interpreted = run(mixed, &failed);
    const std::vector<float> own = run_with_executorch(&failed);

    failed += check(compiled == interpreted, "same by one word");
    failed += check(compiled == own, "same by ExecuTorch's API");
    failed += check(cortexm_init(&mixed, nullptr, 0) == CORTEXM_OK, "init again");
    failed += check(reinterpret_cast<uintptr_t>(mixed_pte) % 16 == 0, "aligned");
    return failed == 0 ? 0 : 1;
}
