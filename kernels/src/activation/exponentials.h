/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels have in common that compute the exponentials of softmax of int8 with DSP instructions or MVE. */
#ifndef CORTEXM_ACTIVATION_EXPONENTIALS_H
#define CORTEXM_ACTIVATION_EXPONENTIALS_H

#include "common/stamp.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

#define KEPT 64 /* up_to_64 of conditions.py */

/* The lowest difference of codes whose exponential counts. That of a lower one than 2^30 / x, with the x of one code
 * rounded upwards, is 2^31 * exp(-16) at most, which adds nothing to a sum and leaves nothing of a share: x of those that
 * count has six bits of quarters. */
static inline int32_t lowest_of(const cortexm_softmax_s8_t *p)
{
    CORTEXM_ASSERT(p->size > 0 && p->size <= KEPT);
    CORTEXM_ASSERT(p->shift >= 0 && p->shift <= 31 && p->diff_min <= 0);
    CORTEXM_ASSERT(p->multiplier >= 1 << 30 && p->multiplier > (1 << 30) >> p->shift);

    return cortexm_max(p->diff_min, -(0x3fffffff / ((p->multiplier >> (31 - p->shift)) + 1)));
}

#endif
