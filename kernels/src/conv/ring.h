/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of rows that depthwise_ring keeps. */
#ifndef CORTEXM_CONV_RING_H
#define CORTEXM_CONV_RING_H

#include "common/stamp.h"

/* Where the oldest rows of a ring are, of which those at `position` are the newest: a position of the
 * application's memory leads to none outside. */
static inline int32_t cortexm_ring_oldest(int32_t position, int32_t turns)
{
    const int32_t next = (position < 0 ? 0 : position) + 1;

    return next >= turns ? 0 : next;
}

#endif
