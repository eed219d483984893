/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CONFIG_CORTEXM_LOG_MEMORY and CONFIG_CORTEXM_PROFILE add to the runtime. The linker's --wrap
 * sends the application's calls here, so the runtime itself is the same everywhere.
 */
#include <cortexm/zephyr.h>
#include <zephyr/kernel.h>
#include <zephyr/logging/log.h>

LOG_MODULE_REGISTER(cortexm, CONFIG_CORTEXM_LOG_LEVEL);

#if defined(CONFIG_CORTEXM_LOG_MEMORY)
int __real_cortexm_init(const cortexm_model_t *model, void *arena, size_t arena_size);
int __wrap_cortexm_init(const cortexm_model_t *model, void *arena, size_t arena_size);

int __wrap_cortexm_init(const cortexm_model_t *model, void *arena, size_t arena_size)
{
    const int status = __real_cortexm_init(model, arena, arena_size);

    if (status != CORTEXM_OK) {
        LOG_ERR("%s: cortexm_init: error %d", model != NULL ? model->name : "NULL", status);
        return status;
    }
    LOG_INF("%s: arena %zu bytes at %p", model->name, model->arena_size,
            arena != NULL ? arena : model->arena);
    for (size_t i = 0; i < model->input_count; i++) {
        LOG_INF("%s: input %zu, %zu bytes at offset %zu", model->name, i, model->inputs[i].size,
                model->inputs[i].offset);
    }
    for (size_t i = 0; i < model->output_count; i++) {
        LOG_INF("%s: output %zu, %zu bytes at offset %zu", model->name, i, model->outputs[i].size,
                model->outputs[i].offset);
    }
    return status;
}
#endif

#if defined(CONFIG_CORTEXM_PROFILE)
int __real_cortexm_invoke(const cortexm_model_t *model, void *arena);
int __wrap_cortexm_invoke(const cortexm_model_t *model, void *arena);

__weak void cortexm_profile_hook(const cortexm_model_t *model, uint32_t cycles)
{
    LOG_INF("%s: %u cycles", model->name, cycles);
}

int __wrap_cortexm_invoke(const cortexm_model_t *model, void *arena)
{
    const uint32_t start = k_cycle_get_32();
    const int status = __real_cortexm_invoke(model, arena);
    const uint32_t cycles = k_cycle_get_32() - start;

    if (status == CORTEXM_OK) {
        cortexm_profile_hook(model, cycles);
    }
    return status;
}
#endif
