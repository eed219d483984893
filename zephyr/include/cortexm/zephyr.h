/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of the Zephyr module. */
#ifndef CORTEXM_ZEPHYR_H
#define CORTEXM_ZEPHYR_H

#include <stdint.h>

#include "cortexm/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CONFIG_CORTEXM_PROFILE: called after each cortexm_invoke() in the context that ran it. `cycles`
 * includes whatever interrupted the run, but not what the hook below takes. Weak: the default writes
 * a line to the log. */
void cortexm_profile_hook(const cortexm_model_t *model, uint32_t cycles);

/* CONFIG_CORTEXM_PROFILE_LAYERS: called after each layer in the context that ran it. `step` counts
 * from 1, as "west cortexm report" does. Weak as well. */
void cortexm_profile_layer_hook(const cortexm_model_t *model, uint32_t step, uint32_t cycles);

#ifdef __cplusplus
}
#endif

#endif
