/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model with RUNTIME executorch: its program, the kernels it uses, and where the pools of ExecuTorch's
 * runtime lie in the arena. The generated NAME.c connects it to the functions of cortexm/model.h.
 */
#ifndef CORTEXM_EXECUTORCH_H
#define CORTEXM_EXECUTORCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of the arena, in bytes. */
typedef struct {
    uint32_t offset, size;
} cortexm_et_pool_t;

typedef struct {
    const uint8_t *pte;
    size_t pte_size;
    const char *method;
    const void *kernels;              /* ExecuTorch's Kernel[kernel_count], for this program alone */
    uint32_t kernel_count;
    uint32_t state_size;              /* bytes at the begin of the arena for the loaded program */
    cortexm_et_pool_t method_pool;    /* ExecuTorch's method allocator */
    cortexm_et_pool_t temp_pool;      /* its temporary allocator; size 0 for none */
    const cortexm_et_pool_t *planned; /* memory-planned buffers, in the program's order */
    uint32_t planned_count;
    cortexm_et_pool_t spans;          /* room for ExecuTorch's list of these buffers */
    const cortexm_et_pool_t *inputs;  /* where the application writes and reads */
    const cortexm_et_pool_t *outputs;
    uint32_t input_count, output_count;
} cortexm_et_program_t;

/* Loads the program into an arena; the outcome is kept there. */
void cortexm_et_init(const cortexm_et_program_t *program, void *arena);

/* Runs it once, if it was loaded. */
void cortexm_et_invoke(const cortexm_et_program_t *program, void *arena);

/* CORTEXM_OK, or CORTEXM_ERR_RUNTIME if the last init or invoke failed. */
int cortexm_et_status(const void *arena);

/* ExecuTorch's error number (runtime/core/error.h) behind that; 0 where there is none. */
uint32_t cortexm_et_error(const void *arena);

#ifdef __cplusplus
}
#endif

#endif
