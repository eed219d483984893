/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of cortexm/model.h: checks at the border of a compiled model. What is inside (shapes,
 * kernels, offsets) was proved on the host; only what the application passes is checked here.
 */
#include "cortexm/model.h"

/* The arena a call works on: the one passed, else the model's own, else NULL. */
static uint8_t *arena_of(const cortexm_model_t *model, void *arena)
{
    if (model == NULL) {
        return NULL;
    }
    return (uint8_t *)(arena != NULL ? arena : model->arena);
}

cortexm_status_t cortexm_init(const cortexm_model_t *model, void *arena, size_t arena_size)
{
    uint8_t *const base = arena_of(model, arena);

    if (base == NULL) {
        return CORTEXM_ERR_ARGUMENT;
    }
    if (model->abi != CORTEXM_ABI) {
        return CORTEXM_ERR_ABI;
    }
    /* The model's own arena has the right size by construction, so its caller need not know it. */
    if (arena != NULL && arena_size < model->arena_size) {
        return CORTEXM_ERR_ARENA_SIZE;
    }
    if (((uintptr_t)base & (uintptr_t)(CORTEXM_ARENA_ALIGN - 1)) != 0U) {
        return CORTEXM_ERR_ARENA_ALIGN;
    }
    if (model->init != NULL) {
        model->init(base);
    }
    return model->status != NULL ? model->status(base) : CORTEXM_OK;
}

cortexm_status_t cortexm_invoke(const cortexm_model_t *model, void *arena)
{
    uint8_t *const base = arena_of(model, arena);

    if (base == NULL) {
        return CORTEXM_ERR_ARGUMENT;
    }
    model->invoke(base);
    return model->status != NULL ? model->status(base) : CORTEXM_OK;
}

/* `info`, or NULL, and where it lies. */
static inline cortexm_tensor_t tensor_of(const cortexm_model_t *model, void *arena, const cortexm_tensor_info_t *info)
{
    cortexm_tensor_t tensor = {NULL, info};

    if (info != NULL) {
        uint8_t *const base = arena_of(model, arena);

        if (base != NULL) {
            tensor.data = base + info->offset;
        }
    }
    return tensor;
}

cortexm_tensor_t cortexm_input(const cortexm_model_t *model, void *arena, size_t index)
{
    const int is_there = model != NULL && index < model->input_count;

    return tensor_of(model, arena, is_there ? &model->inputs[index] : NULL);
}

cortexm_tensor_t cortexm_output(const cortexm_model_t *model, void *arena, size_t index)
{
    const int is_there = model != NULL && index < model->output_count;

    return tensor_of(model, arena, is_there ? &model->outputs[index] : NULL);
}
