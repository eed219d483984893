/* SPDX-License-Identifier: Apache-2.0 */
/* Which taps of a window lie inside the image, along one axis. */
#ifndef CORTEXM_COMMON_TAPS_H
#define CORTEXM_COMMON_TAPS_H

#include <stdint.h>

/* Taps begin, begin + 1 … end - 1 are inside; the others are padding. */
typedef struct {
    int32_t begin, end;
} cortexm_taps_t;

/* Tap t is at position first + t * dilation; inside means [0, extent). Steps instead of dividing:
 * the core may have no divider, and most windows are inside entirely. */
static inline cortexm_taps_t cortexm_taps_inside(int32_t first, int32_t dilation, int32_t kernel,
                                                 int32_t extent)
{
    cortexm_taps_t taps = {0, kernel};
    int32_t last = first + (kernel - 1) * dilation;

    for (; taps.begin < taps.end && first < 0; first += dilation) {
        ++taps.begin;
    }
    for (; taps.begin < taps.end && last >= extent; last -= dilation) {
        --taps.end;
    }
    return taps;
}

static inline int32_t cortexm_taps_count(cortexm_taps_t taps)
{
    return taps.end - taps.begin;
}

#endif
