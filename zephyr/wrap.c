/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CONFIG_CORTEXM_STACK_CHECK, CONFIG_CORTEXM_LOG_MEMORY and CONFIG_CORTEXM_PROFILE add to the
 * runtime. The linker's --wrap sends the application's calls here, so the runtime itself is the same
 * everywhere.
 */
#include <cortexm/zephyr.h>
#include <zephyr/kernel.h>
#include <zephyr/logging/log.h>

#include "profile.h"

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

#if defined(CONFIG_CORTEXM_STACK_CHECK)
K_KERNEL_PINNED_STACK_ARRAY_DECLARE(z_interrupt_stacks, CONFIG_MP_MAX_NUM_CPUS,
                                    CONFIG_ISR_STACK_SIZE);

/* Bytes of the present stack that are left. A user thread may not ask; its stack has a guard. */
static size_t stack_left(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (k_is_user_context()) {
        return SIZE_MAX;
    }
    const uintptr_t start = k_is_in_isr()
                                ? (uintptr_t)K_KERNEL_STACK_BUFFER(z_interrupt_stacks[0])
                                : k_current_get()->stack_info.start;

    return here > start ? here - start : 0;
}

/* The message comes from the system's work queue: the stack at hand may be too small for it. */
static const cortexm_model_t *refused;
static size_t refused_left;

static void report_refusal(struct k_work *work)
{
    ARG_UNUSED(work);
    LOG_ERR("%s: %zu bytes of stack are left, %zu are needed", refused->name, refused_left,
            refused->stack_size);
}

static K_WORK_DEFINE(refusal, report_refusal);
#endif

#if defined(CONFIG_CORTEXM_STACK_CHECK) || defined(CONFIG_CORTEXM_PROFILE)
cortexm_call_t __real_cortexm_invoke, __wrap_cortexm_invoke;

int __wrap_cortexm_invoke(const cortexm_model_t *model, void *arena)
{
#if defined(CONFIG_CORTEXM_STACK_CHECK)
    const size_t left = stack_left();

    if (model != NULL && model->stack_size > left) {
        refused = model;
        refused_left = left;
        k_work_submit(&refusal);
        return CORTEXM_ERR_STACK;
    }
#endif
#if defined(CONFIG_CORTEXM_PROFILE)
    return cortexm_profiled(model, arena, __real_cortexm_invoke);
#else
    return __real_cortexm_invoke(model, arena);
#endif
}
#endif
