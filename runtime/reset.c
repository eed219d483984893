/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a new sequence of calls; linked only where it is called. */
#include "cortexm/model.h"

int cortexm_reset(const cortexm_model_t *model, void *arena)
{
    return model != NULL ? cortexm_init(model, arena, model->arena_size) : CORTEXM_ERR_ARGUMENT;
}
