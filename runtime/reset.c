/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a new sequence of calls; linked only where it is called. */
#include "cortexm/model.h"

cortexm_status_t cortexm_reset(const cortexm_model_t *model, void *arena)
{
    if (model == NULL || (arena == NULL && model->arena == NULL)) {
        return CORTEXM_ERR_ARGUMENT;
    }
    void *const base = arena != NULL ? arena : model->arena;

    if (model->init != NULL) {
        model->init(base);
    }
    return model->status != NULL ? model->status(base) : CORTEXM_OK;
}
