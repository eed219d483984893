/* SPDX-License-Identifier: Apache-2.0 */
/* The clamp of an activation, as a second pass over codes that are saturated to int8. In most models
 * the range is all of int8 and nothing remains to be done. */
#ifndef CORTEXM_COMMON_ROWS_H
#define CORTEXM_COMMON_ROWS_H

#include <stdint.h>

#include "cortexm/params.h"
#include "cortexm/requantize.h"

static inline void cortexm_clamp_codes(int8_t *codes, int32_t count, int32_t low, int32_t high)
{
    if (low == INT8_MIN && high == INT8_MAX) {
        return;
    }
    for (; count > 0; --count) {
        *codes = (int8_t)cortexm_clamp(*codes, low, high);
        ++codes;
    }
}

/* All results of a convolution. */
static inline void cortexm_clamp_image(const cortexm_conv_s8_t *p, int8_t *out)
{
    const int32_t is_whole = p->out_pixel_stride == p->out_c;
    const int32_t pixels = p->out_h * p->out_w;

    for (int32_t i = is_whole ? 1 : pixels; i > 0; --i) {
        cortexm_clamp_codes(out, is_whole ? pixels * p->out_c : p->out_c, p->act_min, p->act_max);
        out += p->out_pixel_stride;
    }
}

/* Sums over runs of int8 codes. */

/* sum of a[0..n) */
static inline int32_t cortexm_sum_s8(const int8_t *a, int32_t n)
{
    const int8_t *const end = a + n;
    int32_t sum = 0;

    while (a != end) {
        sum += *a++;
    }
    return sum;
}

#endif
