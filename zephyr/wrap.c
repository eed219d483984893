/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CONFIG_CORTEXM_LOG_MEMORY and CONFIG_CORTEXM_PROFILE add to the runtime. The linker's --wrap
 * sends the application's calls here, so the runtime itself is the same everywhere.
 */
#include <cortexm/zephyr.h>
#include <zephyr/kernel.h>
#include <zephyr/logging/log.h>

#if defined(CONFIG_TIMING_FUNCTIONS)
#include <zephyr/init.h>
#include <zephyr/timing/timing.h>
#endif

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

#if defined(CONFIG_TIMING_FUNCTIONS)
typedef timing_t moment_t;

static int start_clock(void)
{
    timing_init();
    timing_start();
    return 0;
}

SYS_INIT(start_clock, POST_KERNEL, CONFIG_KERNEL_INIT_PRIORITY_DEFAULT);

static moment_t now(void)
{
    return timing_counter_get();
}

static uint32_t cycles_since(moment_t start)
{
    moment_t end = now();

    return (uint32_t)timing_cycles_get(&start, &end);
}
#else
typedef uint32_t moment_t;

static moment_t now(void)
{
    return k_cycle_get_32();
}

static uint32_t cycles_since(moment_t start)
{
    return now() - start;
}
#endif

/* A run in progress. It lies on the stack of its context, a thread or an interrupt, and in a list by
 * which the marks between layers find it. */
struct run {
    struct run *next;
    k_tid_t thread;
    bool interrupt;
    moment_t last; /* when the present layer began */
    uint32_t cycles;
};

static struct run *runs;

__weak void cortexm_profile_hook(const cortexm_model_t *model, uint32_t cycles)
{
    LOG_INF("%s: %u cycles", model->name, cycles);
}

int __wrap_cortexm_invoke(const cortexm_model_t *model, void *arena)
{
    struct run run = {.thread = k_current_get(), .interrupt = k_is_in_isr()};
    struct run **link = &runs;
    unsigned int key = irq_lock();

    run.next = runs;
    runs = &run;
    irq_unlock(key);
    run.last = now();
    const int status = __real_cortexm_invoke(model, arena);

    run.cycles += cycles_since(run.last);
    key = irq_lock();
    while (*link != &run) {
        link = &(*link)->next;
    }
    *link = run.next;
    irq_unlock(key);
    if (status == CORTEXM_OK) {
        cortexm_profile_hook(model, run.cycles);
    }
    return status;
}

#if defined(CONFIG_CORTEXM_PROFILE_LAYERS)
__weak void cortexm_profile_layer_hook(const cortexm_model_t *model, uint32_t step, uint32_t cycles)
{
    LOG_INF("%s: step %u: %u cycles", model->name, step, cycles);
}

void cortexm_profile(const cortexm_model_t *model, uint32_t step)
{
    const k_tid_t thread = k_current_get();
    const bool interrupt = k_is_in_isr();
    const unsigned int key = irq_lock();
    struct run *run = runs;

    /* The first that fits: of interrupts within interrupts, the innermost. */
    while (run != NULL && (run->thread != thread || run->interrupt != interrupt)) {
        run = run->next;
    }
    irq_unlock(key);
    if (run == NULL) {
        return; /* model->invoke() was called directly */
    }
    if (step > 0U) {
        const uint32_t cycles = cycles_since(run->last);

        run->cycles += cycles;
        cortexm_profile_layer_hook(model, step, cycles);
    }
    run->last = now();
}
#endif
#endif
