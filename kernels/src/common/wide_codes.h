/* SPDX-License-Identifier: Apache-2.0 */
/* int16 codes from sums of 32 bits, per channel, for the cores without SIMD. */
#ifndef CORTEXM_COMMON_WIDE_CODES_H
#define CORTEXM_COMMON_WIDE_CODES_H

#include "common/apart.h"
#include "common/stamp.h"
#include "common/wide.h"

#include CORTEXM_ROUTINES_WIDE

/* Objects of one instruction set share it. */
#define cortexm_put_rows CORTEXM_JOIN(cortexm_put_rows_, ISA)

/* Requantization to codes; scalar values only, so that they stay in registers. */
typedef struct {
    const int16_t *multiplier;
    const int8_t *shift;
    int32_t low, high;
} cortexm_codes_t;

/* Those of a layer, and the code of its padding. */
#define CORTEXM_CODES_OF(p)                                                                        \
    {                                                                                              \
        (p)->multiplier, (p)->shift, (p)->act_min, (p)->act_max                                    \
    }
#define CORTEXM_IN_ZERO_POINT(p) 0

/* The code of a sum, by common/wide.h. */
static inline int16_t cortexm_code(const cortexm_codes_t *codes, int32_t o, int32_t sum)
{
    return cortexm_rescale_narrow(sum, codes->multiplier[o], codes->shift[o], codes->low,
                                  codes->high);
}

/* out[i][o] = code of sum[step * i] for `rows` > 0 pixels i. */
CORTEXM_SHARED void cortexm_put_rows(const cortexm_codes_t *codes, int32_t o, const int32_t *sum,
                                     int32_t step, int32_t rows, int16_t *const *out)
{
    const int32_t multiplier = codes->multiplier[o];
    const int32_t shift = -2 - codes->shift[o];
    const int32_t low = codes->low;
    const int32_t high = codes->high;
    int16_t *const *const end = out + rows;

    if (shift < 0) {
        do {
            (*out++)[o] = cortexm_code(codes, o, *sum);
            sum += step;
        } while (out != end);
        return;
    }
    do {
        const int32_t value = (cortexm_wide_product(*sum, multiplier) >> shift) + 1;

        (*out++)[o] = (int16_t)cortexm_clamp(value >> 1, low, high);
        sum += step;
    } while (out != end);
}

/* out[i][o + k] = code of sum[4 * i + k] for `rows` > 0 pixels i and `count` <= 4 channels o + k. */
static inline void cortexm_put_codes(const cortexm_codes_t *codes, int32_t o, int32_t count,
                                     const int32_t *sum, int32_t rows, int16_t *const *out)
{
    for (const int32_t *const end = sum + count; sum != end; ++sum) {
        cortexm_put_rows(codes, o++, sum, 4, rows, out);
    }
}

#endif
