/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CMSIS-NN's addition and multiplication take two operands of one length. An operand that repeats is
 * given to them run by run; the plan has made sure that the other one does not repeat.
 */
#ifndef CORTEXM_CMSIS_NN_RUNS_H
#define CORTEXM_CMSIS_NN_RUNS_H

#include <stdint.h>

/* Elements that are calculated by one call. */
static inline int32_t cortexm_nn_run(int32_t a_period, int32_t b_period)
{
    return a_period < b_period ? a_period : b_period;
}

/* How far an operand goes on from one run to the next: nowhere, if it repeats in each. */
static inline int32_t cortexm_nn_step(int32_t period, int32_t run)
{
    return period > run ? run : 0;
}

#endif
