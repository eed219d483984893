/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks two operands that repeat with their periods, in runs without a wrap: element by element
 * kernels then need neither a division nor a test of indices in their inner loop.
 *
 *     cortexm_broadcast_t walk = cortexm_broadcast(count, a_period, b_period);
 *     while (walk.run > 0) {
 *         for (i = 0; i < walk.run; ++i)
 *             out[walk.done + i] = f(a[walk.a + i * walk.a_step], b[walk.b + i * walk.b_step]);
 *         cortexm_broadcast_next(&walk);
 *     }
 */
#ifndef CORTEXM_COMMON_BROADCAST_H
#define CORTEXM_COMMON_BROADCAST_H

#include "cortexm/requantize.h"

typedef struct {
    int32_t count, a_period, b_period;
    int32_t done;             /* results before this run */
    int32_t a, b;             /* where the run begins in each operand */
    int32_t run;              /* results of this run; 0 at the end */
    int32_t a_step, b_step;   /* 0 for an operand of one element, else 1 */
} cortexm_broadcast_t;

static inline int32_t cortexm_broadcast_run(const cortexm_broadcast_t *walk)
{
    int32_t run = walk->count - walk->done;

    if (walk->a_step != 0) {
        run = cortexm_min(run, walk->a_period - walk->a);
    }
    if (walk->b_step != 0) {
        run = cortexm_min(run, walk->b_period - walk->b);
    }
    return run;
}

static inline cortexm_broadcast_t cortexm_broadcast(int32_t count, int32_t a_period,
                                                    int32_t b_period)
{
    cortexm_broadcast_t walk = {count, a_period, b_period, 0, 0, 0, 0, a_period != 1, b_period != 1};

    walk.run = cortexm_broadcast_run(&walk);
    return walk;
}

static inline void cortexm_broadcast_next(cortexm_broadcast_t *walk)
{
    walk->done += walk->run;
    walk->a += walk->run * walk->a_step;
    walk->b += walk->run * walk->b_step;
    if (walk->a == walk->a_period) {
        walk->a = 0;
    }
    if (walk->b == walk->b_period) {
        walk->b = 0;
    }
    walk->run = cortexm_broadcast_run(walk);
}

#endif
