/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the taps of a depthwise window, of four channels, in C. */
#ifndef CORTEXM_CONV_TAP_FOURS_H
#define CORTEXM_CONV_TAP_FOURS_H

#include "common/stamp.h"

/* In C, for codes of either size (ELEMENT, stamp.h): sum[i] = bias[i] + sum over the taps, which are
 * three pointers apart, of tap[channel + i] * w[i]. There is at least one tap. */
static CORTEXM_APART void cortexm_tap_fours(const ELEMENT *const *tap, const ELEMENT *const *end,
                                            int32_t channel, const int8_t *w,
                                            const int32_t bias[4], int32_t sum[4])
{
    int32_t sum0 = bias[0];
    int32_t sum1 = bias[1];
    int32_t sum2 = bias[2];
    int32_t sum3 = bias[3];

    do {
        const ELEMENT *const x = *tap + channel;

        tap += 3;
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
