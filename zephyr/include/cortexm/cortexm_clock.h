/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of CONFIG_CORTEXM_PROFILE, which user threads cannot read by themselves. */
#ifndef CORTEXM_CLOCK_H
#define CORTEXM_CLOCK_H

#include <stdint.h>
#include <zephyr/kernel.h>

/* A moment: that of timing_counter_get() with CONFIG_TIMING_FUNCTIONS, else of k_cycle_get_32(). */
__syscall uint64_t cortexm_clock(void);

#include <zephyr/syscalls/cortexm_clock.h>

#endif
