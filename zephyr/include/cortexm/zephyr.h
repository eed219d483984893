/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of the Zephyr module. */
#ifndef CORTEXM_ZEPHYR_H
#define CORTEXM_ZEPHYR_H

#include <stdint.h>

#include "cortexm/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CONFIG_CORTEXM_PROFILE: called after each cortexm_invoke() in the thread that ran it. `cycles` is
 * the difference of k_cycle_get_32() and includes whatever interrupted the run. Weak: the default
 * writes a line to the log. */
void cortexm_profile_hook(const cortexm_model_t *model, uint32_t cycles);

#ifdef __cplusplus
}
#endif

#endif
