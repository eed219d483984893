/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONFIG_CORTEXM_PROFILE: cycles of runs and of their layers, in threads of either mode and in
 * interrupts.
 */
#include "profile.h"

#include <cortexm/cortexm_clock.h>
#include <cortexm/zephyr.h>
#include <zephyr/app_memory/app_memdomain.h>
#include <zephyr/init.h>
#include <zephyr/logging/log.h>
#include <zephyr/sys/atomic.h>
#include <zephyr/sys/printk.h>

#if defined(CONFIG_CPU_CORTEX_M)
#include <cmsis_core.h>
#endif
#if defined(CONFIG_TIMING_FUNCTIONS)
#include <zephyr/timing/timing.h>
#endif
#if defined(CONFIG_USERSPACE)
#include <zephyr/internal/syscall_handler.h>
#endif

LOG_MODULE_DECLARE(cortexm, CONFIG_CORTEXM_LOG_LEVEL);

#if defined(CONFIG_LOG)
#define SAY(format, ...) LOG_INF(format, __VA_ARGS__)
#else
#define SAY(format, ...) printk(format "\n", __VA_ARGS__)
#endif

#if defined(CONFIG_TIMING_FUNCTIONS)
static int start_clock(void)
{
    timing_init();
    timing_start();
    return 0;
}

SYS_INIT(start_clock, POST_KERNEL, CONFIG_KERNEL_INIT_PRIORITY_DEFAULT);
#endif

uint64_t z_impl_cortexm_clock(void)
{
#if defined(CONFIG_TIMING_FUNCTIONS)
    return (uint64_t)timing_counter_get();
#else
    return k_cycle_get_32();
#endif
}

#if defined(CONFIG_USERSPACE)
static inline uint64_t z_vrfy_cortexm_clock(void)
{
    return z_impl_cortexm_clock();
}
#include <zephyr/syscalls/cortexm_clock_mrsh.c>
#endif

static uint32_t cycles_between(uint64_t start, uint64_t end)
{
#if defined(CONFIG_TIMING_FUNCTIONS)
    timing_t from = start, to = end;

    return (uint32_t)timing_cycles_get(&from, &to);
#else
    return (uint32_t)end - (uint32_t)start;
#endif
}

/* Whether the clock may have lost whole periods: SysTick counts down from a period's length, and its
 * interrupt adds up the periods. Where that is held up, in an interrupt of no lower priority (timers'
 * functions are), only the first of them is counted. User threads hold up nothing. */
static bool clock_is_behind(void)
{
#if defined(CONFIG_CORTEX_M_SYSTICK) && !defined(CONFIG_TIMING_FUNCTIONS)
    return !k_is_user_context() && (SCB->ICSR & SCB_ICSR_PENDSTSET_Msk) != 0U;
#else
    return false;
#endif
}

__weak void cortexm_profile_hook(const cortexm_model_t *model, uint32_t cycles)
{
    if (cycles > 0U) {
        SAY("%s: %u cycles", model->name, cycles);
    } else {
        SAY("%s: cycles not known, the clock's interrupt was held up", model->name);
    }
}

/* A run in progress. */
struct run {
    atomic_t context; /* what it runs in; 0: free */
    const cortexm_model_t *model;
    uint64_t last; /* when the present layer began */
    uint32_t cycles;
    bool unknown;
};

static uint32_t take_cycles(struct run *run)
{
    const uint32_t cycles = cycles_between(run->last, cortexm_clock());

    run->unknown = run->unknown || clock_is_behind();
    run->cycles += cycles;
    return run->unknown ? 0U : cycles;
}

#if defined(CONFIG_CORTEXM_PROFILE_LAYERS)
/* Where the marks between layers find their run. User threads write here. */
K_APP_BMEM(cortexm_partition) static struct run runs[CONFIG_CORTEXM_PROFILE_RUNS];

/* A thread, or the number of an exception, which cannot interrupt itself. */
static atomic_val_t this_context(void)
{
    if (!k_is_user_context() && k_is_in_isr()) {
#if defined(CONFIG_CPU_CORTEX_M)
        return (atomic_val_t)__get_IPSR();
#else
        return 1;
#endif
    }
    return (atomic_val_t)k_current_get();
}

static struct run *begin(const cortexm_model_t *model, struct run *local)
{
    const atomic_val_t context = this_context();

    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        if (atomic_cas(&runs[i].context, 0, context)) {
            runs[i].model = model;
            runs[i].cycles = 0;
            runs[i].unknown = false;
            return &runs[i];
        }
    }
    return local; /* more runs at once than there are places: this one's layers are not reported */
}

__weak void cortexm_profile_layer_hook(const cortexm_model_t *model, uint32_t step, uint32_t cycles)
{
    if (cycles > 0U) {
        SAY("%s: step %u: %u cycles", model->name, step, cycles);
    } else {
        SAY("%s: step %u: cycles not known", model->name, step);
    }
}

void cortexm_profile(const cortexm_model_t *model, uint32_t step)
{
    const atomic_val_t context = this_context();

    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        if (atomic_get(&runs[i].context) == context && runs[i].model == model) {
            if (step > 0U) {
                cortexm_profile_layer_hook(model, step, take_cycles(&runs[i]));
            }
            runs[i].last = cortexm_clock();
            return;
        }
    }
}
#else
static struct run *begin(const cortexm_model_t *model, struct run *local)
{
    ARG_UNUSED(model);
    return local;
}
#endif

int cortexm_profiled(const cortexm_model_t *model, void *arena, cortexm_call_t *invoke)
{
    struct run local = {0};
    struct run *const run = begin(model, &local);

    run->last = cortexm_clock();
    const int status = invoke(model, arena);

    (void)take_cycles(run);
    const uint32_t cycles = run->unknown ? 0U : run->cycles;

    atomic_set(&run->context, 0);
    if (status == CORTEXM_OK) {
        cortexm_profile_hook(model, cycles);
    }
    return status;
}
