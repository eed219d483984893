/* SPDX-License-Identifier: Apache-2.0 */
/* Runs each model compiled and on ExecuTorch's runtime, on the same inputs, and compares the outputs. */
#include <cstdio>
#include <cstring>

#include "../../../runtime/executorch/state.h"
#include "cortexm/executorch.h"
#include "cortexm_board.h"
#include "models.h"

struct Job {
    const cortexm_model_t *model;
};

static int invoke(void *context)
{
    return cortexm_invoke(static_cast<Job *>(context)->model, nullptr);
}

static void fill(const cortexm_model_t *model, uint32_t seed)
{
    for (size_t i = 0; i < model->input_count; ++i) {
        const cortexm_tensor_t input = cortexm_input(model, nullptr, i);
        float *const values = static_cast<float *>(input.data);
        uint32_t state = seed + static_cast<uint32_t>(i);

        for (size_t k = 0; k < input.info->size / sizeof(float); ++k) {
            state = state * 1664525U + 1013904223U;
            values[k] = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
        }
    }
}

int main()
{
    char line[160];
    int failed = 0;

    for (const auto &entry : models) {
        Job jobs[2] = {{entry.compiled}, {entry.executorch}};
        uint32_t instructions[2] = {0, 0};
        bool same = true;

        for (int j = 0; j < 2; ++j) {
            if (cortexm_init(jobs[j].model, nullptr, 0) != CORTEXM_OK) {
                std::snprintf(line, sizeof line, "init failed: %lx\n",
                              static_cast<unsigned long>(cortexm_et_error(jobs[j].model->arena)));
                board_fail(line);
            }
        }
        for (uint32_t row = 1; row <= 2; ++row) {
            for (int j = 0; j < 2; ++j) {
                fill(jobs[j].model, row);
                const board_measurement_t cost = board_measure(invoke, &jobs[j]);

                if (cost.result != CORTEXM_OK) {
                    board_fail("invoke failed");
                }
                instructions[j] = static_cast<uint32_t>(cost.instructions);
            }
            for (size_t i = 0; i < entry.compiled->output_count; ++i) {
                const cortexm_tensor_t a = cortexm_output(entry.compiled, nullptr, i);
                const cortexm_tensor_t b = cortexm_output(entry.executorch, nullptr, i);

                same = same && a.info->size == b.info->size &&
                       std::memcmp(a.data, b.data, a.info->size) == 0;
            }
        }
        const auto *const state = static_cast<const cortexm_et::State *>(entry.executorch->arena);
        std::snprintf(line, sizeof line, "%s %s pool %lu of %lu instructions %lu %lu\n",
                      entry.executorch->name, same ? "same" : "DIFFERENT",
                      static_cast<unsigned long>(state->method_allocator.used_size()),
                      static_cast<unsigned long>(entry.program->method_pool.size),
                      static_cast<unsigned long>(instructions[0]),
                      static_cast<unsigned long>(instructions[1]));
        board_write(line);
        failed += same ? 0 : 1;
    }
    return failed;
}
