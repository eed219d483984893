/* SPDX-License-Identifier: Apache-2.0 */
/* What a status means, in words; linked only where it is called. */
#include "cortexm/model.h"

const char *cortexm_status_text(cortexm_status_t status)
{
    switch (status) {
    case CORTEXM_OK:
        return "no error";
    case CORTEXM_ERR_ARGUMENT:
        return "the model is NULL, it has no arena of its own and none was passed, or an image of "
               "weights is not at a multiple of 16";
    case CORTEXM_ERR_ARENA_SIZE:
        return "the arena is smaller than the model needs";
    case CORTEXM_ERR_ARENA_ALIGN:
        return "the arena is not aligned to CORTEXM_ARENA_ALIGN bytes";
    case CORTEXM_ERR_ABI:
        return "the model, its weights and the runtime library come from different versions";
    case CORTEXM_ERR_RUNTIME:
        return "ExecuTorch's runtime failed; cortexm_et_error() says why";
    case CORTEXM_ERR_STACK:
        return "less stack is left than the model needs";
    case CORTEXM_ERR_NO_WEIGHTS:
        return "there are no weights: none were loaded, or there is no image";
    case CORTEXM_ERR_WEIGHTS_DAMAGED:
        return "the image of weights is damaged";
    case CORTEXM_ERR_WEIGHTS_TARGET:
        return "the image of weights is for another core or instruction set";
    case CORTEXM_ERR_WEIGHTS_MODEL:
        return "the image of weights is for another model, or another plan of it";
    default:
        return "unknown status";
    }
}
