/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden cases on this board: alone, in a user thread, in two threads that preempt each other, and in an
 * interrupt that preempts them. Whatever runs, each result must be the recorded one in every byte.
 */
#include <cortexm/zephyr.h>
#include <string.h>
#include <zephyr/app_memory/app_memdomain.h>
#include <zephyr/kernel.h>
#include <zephyr/ztest.h>

#include "own.h"
#include "vectors.h"

#define ARENA_BYTES 8192
#define ROUNDS 20 /* of all cases, in each thread */
#define GUARD 0xA5

enum { MAIN, FIRST, SECOND, INTERRUPT, ARENAS };

static _Alignas(CORTEXM_ARENA_ALIGN) uint8_t arenas[ARENAS][ARENA_BYTES];

/* What user threads may write. */
K_APPMEM_PARTITION_DEFINE(user_partition);
CORTEXM_USER_ARENA(user_arena, ARENA_BYTES, user_partition);

/* Number of outputs that differ, or -1 if the model did not run. */
static int run(const struct vector *vector, uint8_t *arena)
{
    const cortexm_model_t *const model = vector->model;
    int wrong = 0;

    if (cortexm_init(model, arena, ARENA_BYTES) != CORTEXM_OK) {
        return -1;
    }
    for (size_t i = 0; i < model->input_count; i++) {
        const cortexm_tensor_t input = cortexm_input(model, arena, i);

        memcpy(input.data, vector->inputs[i], input.info->size);
    }
    if (cortexm_invoke(model, arena) != CORTEXM_OK) {
        return -1;
    }
    for (size_t i = 0; i < model->output_count; i++) {
        const cortexm_tensor_t output = cortexm_output(model, arena, i);

        wrong += memcmp(output.data, vector->outputs[i], output.info->size) != 0;
    }
    return wrong;
}

ZTEST(golden, test_each_case)
{
    zassert_true(vector_count >= 12);
    for (size_t i = 0; i < vector_count; i++) {
        zassert_equal(run(&vectors[i], arenas[MAIN]), 0, "%s", vectors[i].model->name);
    }
}

ZTEST(golden, test_nothing_outside_the_arena_is_written)
{
    for (size_t i = 0; i < vector_count; i++) {
        const size_t size = vectors[i].model->arena_size;

        memset(arenas[MAIN], GUARD, ARENA_BYTES);
        zassert_equal(run(&vectors[i], arenas[MAIN]), 0, "%s", vectors[i].model->name);
        for (size_t at = size; at < ARENA_BYTES; at++) {
            zassert_equal(arenas[MAIN][at], GUARD, "%s wrote byte %zu of %zu",
                          vectors[i].model->name, at, size);
        }
    }
}

ZTEST(golden, test_refusals)
{
    const cortexm_model_t *const model = vectors[0].model;

    zassert_equal(cortexm_init(model, NULL, 0), CORTEXM_ERR_ARGUMENT);
    zassert_equal(cortexm_init(model, arenas[MAIN], model->arena_size - 1), CORTEXM_ERR_ARENA_SIZE);
    zassert_equal(cortexm_init(model, arenas[MAIN] + 1, model->arena_size),
                  CORTEXM_ERR_ARENA_ALIGN);
    zassert_is_null(cortexm_input(model, arenas[MAIN], model->input_count).data);
}

/* Without CONFIG_USERSPACE this is a thread like the others. `own` is the first case with its own arena. */
ZTEST_USER(golden, test_user_thread)
{
    const struct vector own_arena = {&own, vectors[0].inputs, vectors[0].outputs};

    zassert_equal(k_is_user_context(), IS_ENABLED(CONFIG_USERSPACE));
    zassert_equal(run(&own_arena, NULL), 0);
    for (size_t i = 0; i < vector_count; i++) {
        zassert_equal(run(&vectors[i], user_arena), 0, "%s", vectors[i].model->name);
    }
}

#if defined(CONFIG_CORTEXM_PROFILE_LAYERS)
K_APP_BMEM(cortexm_partition) static uint32_t total, layers, layer_count;

void cortexm_profile_hook(const cortexm_model_t *model, uint32_t cycles)
{
    ARG_UNUSED(model);
    total = cycles;
}

void cortexm_profile_layer_hook(const cortexm_model_t *model, uint32_t step, uint32_t cycles)
{
    layers = step == 1U ? cycles : layers + cycles;
    layer_count += step == 1U;
}

ZTEST_USER(golden, test_cycles_of_a_user_thread)
{
    const uint32_t before = layer_count;

    zassert_equal(run(&vectors[0], user_arena), 0);
    zassert_equal(layer_count, before + 1);
    zassert_true(layers > 0 && layers <= total, "%u of %u cycles", layers, total);
}
#endif

#if defined(CONFIG_CORTEXM_STACK_CHECK)
static K_KERNEL_STACK_DEFINE(small, 320);
static struct k_thread small_thread;
static int small_status;

static void run_on_a_small_stack(void *model, void *unused1, void *unused2)
{
    ARG_UNUSED(unused1);
    ARG_UNUSED(unused2);
    small_status = cortexm_invoke(model, arenas[MAIN]);
}

ZTEST(golden, test_a_stack_that_is_too_small)
{
    const cortexm_model_t *deepest = vectors[0].model;

    for (size_t i = 0; i < vector_count; i++) {
        zassert_true(vectors[i].model->stack_size > 0);
        if (vectors[i].model->stack_size > deepest->stack_size) {
            deepest = vectors[i].model;
        }
    }
    zassert_true(deepest->stack_size > K_KERNEL_STACK_SIZEOF(small), "%s", deepest->name);
    k_thread_create(&small_thread, small, K_KERNEL_STACK_SIZEOF(small), run_on_a_small_stack,
                    (void *)deepest, NULL, NULL, K_PRIO_PREEMPT(2), 0, K_NO_WAIT);
    zassert_equal(k_thread_join(&small_thread, K_SECONDS(10)), 0);
    zassert_equal(small_status, CORTEXM_ERR_STACK);
}
#endif

/* Two threads and a timer interrupt, each with an arena of its own. */

struct work {
    uint8_t *arena;
    size_t offset; /* of the first case, so that the threads run different ones */
    int wrong;
    volatile size_t done;
};

static K_THREAD_STACK_ARRAY_DEFINE(stacks, 2, 2048);
CORTEXM_ASSERT_STACK(stacks[0], OWN_STACK_SIZE, 256);
CORTEXM_ASSERT_MAIN_STACK(OWN_STACK_SIZE, 256);
static struct k_thread threads[2];
static struct work work[ARENAS];

static void thread_main(void *argument, void *unused1, void *unused2)
{
    struct work *const mine = argument;

    ARG_UNUSED(unused1);
    ARG_UNUSED(unused2);
    for (size_t n = 0; n < ROUNDS * vector_count; n++) {
        mine->wrong += run(&vectors[(mine->offset + n) % vector_count], mine->arena) != 0;
        mine->done++;
    }
}

static void on_timer(struct k_timer *timer)
{
    struct work *const mine = &work[INTERRUPT];

    ARG_UNUSED(timer);
    mine->wrong += run(&vectors[mine->done % vector_count], mine->arena) != 0;
    mine->done++;
}

K_TIMER_DEFINE(interrupt, on_timer, NULL);

ZTEST(golden, test_two_threads_and_an_interrupt)
{
    for (int i = FIRST; i <= INTERRUPT; i++) {
        work[i] = (struct work){.arena = arenas[i], .offset = (size_t)i * 5};
    }
    k_timer_start(&interrupt, K_MSEC(2), K_MSEC(2));
    for (int i = 0; i < 2; i++) {
        k_thread_create(&threads[i], stacks[i], K_THREAD_STACK_SIZEOF(stacks[i]), thread_main,
                        &work[FIRST + i], NULL, NULL, K_PRIO_PREEMPT(2), 0, K_NO_WAIT);
    }
    for (int i = 0; i < 2; i++) {
        zassert_equal(k_thread_join(&threads[i], K_SECONDS(120)), 0);
    }
    if (IS_ENABLED(CONFIG_ARCH_POSIX)) {
        k_msleep(20); /* there, time passes only while nothing runs */
    }
    k_timer_stop(&interrupt);
    TC_PRINT("%zu and %zu runs in threads, %zu in the interrupt\n", work[FIRST].done,
             work[SECOND].done, work[INTERRUPT].done);
    zassert_true(work[INTERRUPT].done > 0);
    for (int i = FIRST; i <= INTERRUPT; i++) {
        zassert_equal(work[i].wrong, 0, "user %d: %d of %zu runs wrong", i, work[i].wrong,
                      work[i].done);
    }
}

static void *setup(void)
{
#if defined(CONFIG_USERSPACE)
    zassert_equal(k_mem_domain_add_partition(&k_mem_domain_default, &cortexm_partition), 0);
    zassert_equal(k_mem_domain_add_partition(&k_mem_domain_default, &user_partition), 0);
#endif
    return NULL;
}

ZTEST_SUITE(golden, NULL, setup, NULL, NULL, NULL);
