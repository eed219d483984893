/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that repeat with their periods (broadcast.h), for loops that read both as vectors. */
#ifndef CORTEXM_COMMON_BROADCAST_MVE_H
#define CORTEXM_COMMON_BROADCAST_MVE_H

#include "common/broadcast.h"
#include "common/memory_mve.h"

/* Vectors of an operand of one element. */
#define CORTEXM_REPEAT 64

/* `count` results of operands that lie side by side. */
typedef void cortexm_run_t(const void *params, const int8_t *a, const int8_t *b, int8_t *out,
                           int32_t count);

static inline void cortexm_broadcast_mve(cortexm_run_t *run, const void *params, int32_t count,
                                         int32_t a_period, int32_t b_period, const int8_t *a,
                                         const int8_t *b, int8_t *out)
{
    cortexm_broadcast_t walk = cortexm_broadcast(count, a_period, b_period);
    int8_t repeated[CORTEXM_REPEAT];
    int32_t longest = count;

    if (walk.a_step + walk.b_step == 0) {
        /* All results are one. */
        run(params, a, b, out, 1);
        cortexm_fill_mve(out, *out, count);
        return;
    }
    if (walk.a_step + walk.b_step == 1) {
        longest = CORTEXM_REPEAT;
        if (walk.a_step == 0) {
            cortexm_fill_mve(repeated, *a, CORTEXM_REPEAT);
            a = repeated;
        } else {
            cortexm_fill_mve(repeated, *b, CORTEXM_REPEAT);
            b = repeated;
        }
    }
    while (walk.run > 0) {
        walk.run = cortexm_min(walk.run, longest);
        run(params, a + walk.a, b + walk.b, out + walk.done, walk.run);
        cortexm_broadcast_next(&walk);
    }
}

#endif
