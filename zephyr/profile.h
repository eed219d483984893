/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORTEXM_PROFILE_H
#define CORTEXM_PROFILE_H

#include "cortexm/model.h"

typedef int cortexm_call_t(const cortexm_model_t *model, void *arena);

/* Runs a model by `invoke` and reports its cycles to the hooks. Returns what `invoke` returned. */
int cortexm_profiled(const cortexm_model_t *model, void *arena, cortexm_call_t *invoke);

#endif
