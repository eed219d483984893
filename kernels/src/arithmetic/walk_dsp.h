/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over two operands, DSP. */
#ifndef CORTEXM_ARITHMETIC_WALK_DSP_H
#define CORTEXM_ARITHMETIC_WALK_DSP_H

#include "common/box.h"
#include "common/dsp.h"
#include "common/round.h"
#include "common/stamp.h"
#include "common/wide_dsp.h"
#include "cortexm/kernels.h"
#include "arithmetic/codes_dsp.h"

/* The walk over operands of which the shorter one, of at most half of REPEAT elements, is repeated in `to`
 * for longer runs, where results are so many that it pays. */
#define REPEAT 64
#define REPEATED_COUNT (2 * REPEAT)

static CORTEXM_APART cortexm_broadcast_t walk_of(const PARAMS *p, const ELEMENT **a,
                                                 const ELEMENT **b, ELEMENT *to)
{
    const int is_a = p->a_period < p->b_period;
    const ELEMENT **const shorter = is_a ? a : b;
    const int32_t period = is_a ? p->a_period : p->b_period;
    const int32_t all = REPEAT / period * period;

    if (p->a_period == p->b_period || period > REPEAT / 2 || p->count < REPEATED_COUNT) {
        return cortexm_broadcast(p->count, p->a_period, p->b_period);
    }
    for (int32_t i = 0; i < all; ++i) {
        to[i] = i < period ? (*shorter)[i] : to[i - period];
    }
    *shorter = to;
    return cortexm_broadcast(p->count, is_a ? all : p->a_period, is_a ? p->b_period : all);
}

#endif
