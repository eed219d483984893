/* SPDX-License-Identifier: Apache-2.0 */
/* Taps of windows: which lie inside the image, along one axis; phases of transposed convolutions; and the
 * products of depthwise ones. */
#ifndef CORTEXM_COMMON_TAPS_H
#define CORTEXM_COMMON_TAPS_H

#include <stdint.h>

#include "common/stamp.h"
#include "cortexm/requantize.h"

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

/* As cortexm_taps_inside, in less code where the core divides. Divisions round towards 0, which makes no
 * difference to numbers that are clamped there. */
static inline cortexm_taps_t cortexm_taps_divided(int32_t first, int32_t dilation, int32_t kernel,
                                                  int32_t extent)
{
    const int32_t up = dilation - 1 - first;
    const int32_t end = cortexm_clamp((extent + up) / dilation, 0, kernel);

    return (cortexm_taps_t){cortexm_clamp(up / dilation, 0, end), end};
}

static inline int32_t cortexm_taps_count(cortexm_taps_t taps)
{
    return taps.end - taps.begin;
}

/*
 * A transposed convolution without dilation as one convolution for each phase of the stride.
 *
 * Along one axis, tap t of input i reaches output origin + i * stride + t. The outputs of phase f, with
 * 0 <= f < stride, are those of which f is the distance from `origin` modulo stride. To them come the
 * taps f, f + stride, f + 2 * stride … only, each from the input before: their windows are pieces of the
 * image, from one output to the next one input further, and the taps, last one first, are a filter.
 * The plan packs a filter and biases for each phase (_phases in python/cortexm_tools/plan/kernels/packing.py).
 */

typedef struct {
    int32_t taps;  /* may be none */
    int32_t first; /* the first output position that is not negative … */
    int32_t start; /* … and where its window begins; below 0 is padding */
} cortexm_phase_t;

static inline cortexm_phase_t cortexm_phase_of(int32_t phase, int32_t origin, int32_t stride,
                                               int32_t kernel)
{
    cortexm_phase_t p = {0, (origin + phase) % stride, 0};

    if (kernel > phase) {
        p.taps = (kernel - phase - 1) / stride + 1;
    }
    if (p.first < 0) {
        p.first += stride;
    }
    p.start = (p.first - origin - phase) / stride - p.taps + 1;
    return p;
}

#if defined CORTEXM_IS_depthwise_ring

/* Where the oldest rows of a ring are, of which those at `position` are the newest: a position of the
 * application's memory leads to none outside. */
static inline int32_t cortexm_ring_oldest(int32_t position, int32_t turns)
{
    const int32_t next = (position < 0 ? 0 : position) + 1;

    return next >= turns ? 0 : next;
}

#elif defined CORTEXM_IS_depthwise_conv2d_pixel

#include "cortexm/params.h"

/* Elements from one tap of a window to the next, where they are all the same: it has one row or one
 * column, or is as wide as the image. */
static inline int32_t cortexm_tap_step(const PARAMS *p)
{
    return p->kernel_w == 1 ? p->dilation_h * p->in_row_stride : p->dilation_w * p->in_c;
}

#elif defined CORTEXM_IS_depthwise_conv2d

/* In C, for codes of either size (ELEMENT, stamp.h): sum[i] = bias[i] + sum over the
 * taps of tap[channel + i] * w[i]. There is at least one tap. */
static CORTEXM_APART void cortexm_tap_fours(const ELEMENT *const *tap, const ELEMENT *const *end,
                                            int32_t channel, const int8_t *w,
                                            const int32_t bias[4], int32_t sum[4])
{
    int32_t sum0 = bias[0];
    int32_t sum1 = bias[1];
    int32_t sum2 = bias[2];
    int32_t sum3 = bias[3];

    do {
        const ELEMENT *const x = *tap++ + channel;

        sum0 += x[0] * w[0];
        sum1 += x[1] * w[1];
        sum2 += x[2] * w[2];
        sum3 += x[3] * w[3];
        w += 4;
    } while (tap != end);
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}

#endif

#endif
