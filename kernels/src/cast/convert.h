/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From float to integers, for every value: towards zero, saturated to the range of 32 or 64 bits, and
 * 0 for a NaN. C leaves all but the values in range undefined, and cores differ.
 */
#ifndef CORTEXM_CAST_CONVERT_H
#define CORTEXM_CAST_CONVERT_H

#include <stdint.h>

static inline int32_t cortexm_to_s32(float x)
{
    if (x != x) {
        return 0;
    }
    if (x >= 0x1p31f) {
        return INT32_MAX;
    }
    return x < -0x1p31f ? INT32_MIN : (int32_t)x;
}

static inline int64_t cortexm_to_s64(float x)
{
    if (x != x) {
        return 0;
    }
    if (x >= 0x1p63f) {
        return INT64_MAX;
    }
    return x < -0x1p63f ? INT64_MIN : (int64_t)x;
}

/* An integer, widened or rounded to the nearest float by the assignment. */
#define CORTEXM_SAME(x) (x)

#endif
