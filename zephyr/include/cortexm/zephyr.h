/* SPDX-License-Identifier: Apache-2.0 */
/* What the Zephyr module adds: the sizes of stacks, memory for user threads, hooks. */
#ifndef CORTEXM_ZEPHYR_H
#define CORTEXM_ZEPHYR_H

#include <stdint.h>
#include <zephyr/app_memory/app_memdomain.h>
#include <zephyr/devicetree.h>
#include <zephyr/kernel.h>

#include "cortexm/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a thread's stack that an interrupt takes, with registers of the FPU and alignment. What
 * handlers need beyond that is on the stack of interrupts. */
#define CORTEXM_INTERRUPT_FRAME (IS_ENABLED(CONFIG_FPU) ? 112 : 40)

/* Bytes of stack for a thread that runs a model: `model_stack` is its NAME_STACK_SIZE, of several models
 * the largest one, and `own` what the thread's own functions take at the call and elsewhere. */
#define CORTEXM_THREAD_STACK_SIZE(model_stack, own)                                                \
    ((model_stack) + (own) + CORTEXM_INTERRUPT_FRAME)

#define CORTEXM_ASSERT_STACK_BYTES(bytes, model_stack, own)                                        \
    BUILD_ASSERT((model_stack) > 0 || IS_ENABLED(CONFIG_ARCH_POSIX),                               \
                 "the stack that the model takes is not known: see the build's output");           \
    BUILD_ASSERT((bytes) >= CORTEXM_THREAD_STACK_SIZE(model_stack, own),                           \
                 "the stack is too small for the model: see CORTEXM_THREAD_STACK_SIZE()")

/* Fails the build if `stack`, of K_THREAD_STACK_DEFINE(), is smaller than that. */
#define CORTEXM_ASSERT_STACK(stack, model_stack, own)                                              \
    CORTEXM_ASSERT_STACK_BYTES(K_THREAD_STACK_SIZEOF(stack), model_stack, own)

/* The same for the stack of main(), CONFIG_MAIN_STACK_SIZE. */
#define CORTEXM_ASSERT_MAIN_STACK(model_stack, own)                                                \
    CORTEXM_ASSERT_STACK_BYTES(CONFIG_MAIN_STACK_SIZE, model_stack, own)

/* Defines an arena of a caller (ARENA caller) of `bytes`, its NAME_ARENA_SIZE or the largest of several,
 * in a memory partition of K_APPMEM_PARTITION_DEFINE(): what a user thread needs to run a model. */
#define CORTEXM_USER_ARENA(name, bytes, partition)                                                 \
    K_APP_BMEM(partition) static _Alignas(CORTEXM_ARENA_ALIGN) uint8_t name[bytes]

#if defined(CONFIG_USERSPACE)
/* Memory that a user thread must be given to run models with CONFIG_CORTEXM_ARENA_PARTITION or
 * CONFIG_CORTEXM_PROFILE_LAYERS: k_mem_domain_add_partition(domain, &cortexm_partition). */
extern struct k_mem_partition cortexm_partition;
#endif

#if DT_HAS_CHOSEN(cortexm_weights_partition)
/* WEIGHTS partition, CONFIG_CORTEXM_WEIGHTS_PARTITION: where the node lies that the devicetree has chosen as
 * cortexm,weights-partition, a fixed partition of flash that is mapped into the address space, or memory
 * with a register of its own. */
#define CORTEXM_WEIGHTS_NODE DT_CHOSEN(cortexm_weights_partition)
#define CORTEXM_WEIGHTS_ADDRESS                                                                    \
    COND_CODE_1(DT_FIXED_PARTITION_EXISTS(CORTEXM_WEIGHTS_NODE),                                   \
                (DT_FIXED_PARTITION_ADDR(CORTEXM_WEIGHTS_NODE)), (DT_REG_ADDR(CORTEXM_WEIGHTS_NODE)))
#define CORTEXM_WEIGHTS_ROOM DT_REG_SIZE(CORTEXM_WEIGHTS_NODE)

/* Fails the build if an image, of NAME_WEIGHTS_SIZE bytes, has no room there. */
#define CORTEXM_ASSERT_WEIGHTS(bytes)                                                              \
    BUILD_ASSERT((bytes) <= CORTEXM_WEIGHTS_ROOM,                                                  \
                 "the partition is too small for the model's weights")

/* cortexm_load_weights() of the image at the beginning of that partition. */
static inline cortexm_status_t cortexm_load_weights_partition(const cortexm_weights_t *weights)
{
    return cortexm_load_weights(weights, (const void *)CORTEXM_WEIGHTS_ADDRESS, CORTEXM_WEIGHTS_ROOM);
}
#endif

/* CONFIG_CORTEXM_PROFILE: called after each cortexm_invoke() in the context that ran it. `cycles`
 * includes whatever interrupted the run, but not what the hook below takes. 0: not known, as the run
 * held up the interrupt of a clock that needs it. Weak: the default writes a line to the log, or to
 * the console if there is no log. */
void cortexm_profile_hook(const cortexm_model_t *model, uint32_t cycles);

/* CONFIG_CORTEXM_PROFILE_LAYERS: called after each layer in the context that ran it. `step` counts
 * from 1, as "west cortexm report" does. 0 cycles: not known. Weak as well. */
void cortexm_profile_layer_hook(const cortexm_model_t *model, uint32_t step, uint32_t cycles);

#ifdef __cplusplus
}
#endif

#endif
