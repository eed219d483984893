/* SPDX-License-Identifier: Apache-2.0 */
/* What a status means, in words; linked only where it is called. */
#include "cortexm/model.h"

const char *cortexm_status_text(cortexm_status_t status)
{
    switch (status) {
    case CORTEXM_OK:
        return "no error";
    case CORTEXM_ERR_ARGUMENT:
        return "the model is NULL, or it has no arena of its own and none was passed";
    case CORTEXM_ERR_ARENA_SIZE:
        return "the arena is smaller than the model needs";
    case CORTEXM_ERR_ARENA_ALIGN:
        return "the arena is not aligned to CORTEXM_ARENA_ALIGN bytes";
    case CORTEXM_ERR_ABI:
        return "the model and the runtime library come from different versions";
    case CORTEXM_ERR_RUNTIME:
        return "ExecuTorch's runtime failed; cortexm_et_error() says why";
    case CORTEXM_ERR_STACK:
        return "less stack is left than the model needs";
    default:
        return "unknown status";
    }
}
