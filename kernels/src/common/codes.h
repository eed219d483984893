/* SPDX-License-Identifier: Apache-2.0 */
/* Codes from sums, per channel, for the cores without SIMD: of int8, and of int16 from sums of 32 bits. */
#ifndef CORTEXM_COMMON_CODES_H
#define CORTEXM_COMMON_CODES_H

#include "common/nibbles.h"
#include "common/stamp.h"
#include "cortexm/requantize.h"

#if CODE_BITS == 8

/* Objects of one instruction set and the same types share these two. */
#define cortexm_simple_codes CORTEXM_NAME(simple_codes, TYPES, ISA)
#define cortexm_put_codes CORTEXM_NAME(put_codes, TYPES, ISA)

#include CORTEXM_ROUTINES

/* Requantization to codes; scalar values only, so that they stay in registers. */
typedef struct {
    const MULTIPLIER *multiplier;
    const int8_t *shift;
    int32_t zero_point, low, high;
    int32_t is_simple;  /* all shifts are -2 or less */
    int32_t is_clamped; /* low or high is not the end of int8 */
} cortexm_codes_t;

static inline cortexm_codes_t cortexm_codes(const MULTIPLIER *multiplier, const int8_t *shift,
                                            int32_t channels, int32_t zero_point, int32_t low,
                                            int32_t high)
{
    cortexm_codes_t codes = {multiplier, shift, zero_point, low, high, 1,
                             low != INT8_MIN || high != INT8_MAX};

    for (int32_t o = 0; o < channels; ++o) {
        if (shift[o] > -2) {
            codes.is_simple = 0;
        }
    }
    return codes;
}

/* Those of a convolution, and the code of its padding. */
#define CORTEXM_CODES_OF(p)                                                                        \
    cortexm_codes((p)->multiplier, (p)->shift, (p)->out_c, (p)->out_zero_point, (p)->act_min,      \
                  (p)->act_max)
#define CORTEXM_IN_ZERO_POINT(p) (p)->in_zero_point

/* Any code. */
static inline int8_t cortexm_code(const cortexm_codes_t *codes, int32_t o, int32_t value)
{
    return (int8_t)cortexm_add_zero_point(
        cortexm_requantize(value, CORTEXM_Q31(codes->multiplier[o]), codes->shift[o]), codes->zero_point,
        codes->low, codes->high);
}

/* value[4 * i + k] = bias[k] + offset for three rows i and four outputs k, or for `count` = 1 only
 * k = 0. */
static CORTEXM_APART void cortexm_start_codes(const int32_t *bias, int32_t count, int32_t offset,
                                              int32_t *value)
{
    const int32_t last = count - 1;
    const int32_t start0 = bias[0] + offset;
    const int32_t start1 = bias[last & 1] + offset;
    const int32_t start2 = bias[last & 2] + offset;
    const int32_t start3 = bias[last] + offset;

    for (int32_t *row = value; row != value + 12; row += 4) {
        row[0] = start0;
        row[1] = start1;
        row[2] = start2;
        row[3] = start3;
    }
}

/* out[i][o + k] = code of value[4 * i + k] for `rows` > 0 pixels i and `count` <= 4 channels o + k.
 * The values are lost. */
CORTEXM_SHARED void cortexm_put_codes(const cortexm_codes_t *codes, int32_t o, int32_t count,
                                      int32_t *value, int32_t rows, int8_t *const *out)
{
    if (codes->is_simple && count == 4) {
        cortexm_simple_codes(value, codes->multiplier + o, codes->shift + o,
                             2 * codes->zero_point + 1, rows);
        if (codes->is_clamped) {
            for (int32_t i = 0; i < 4 * rows; ++i) {
                value[i] = cortexm_clamp(value[i], codes->low, codes->high);
            }
        }
        for (int32_t i = 0; i < rows; ++i) {
            int8_t *const to = out[i] + o;

            to[0] = (int8_t)value[0];
            to[1] = (int8_t)value[1];
            to[2] = (int8_t)value[2];
            to[3] = (int8_t)value[3];
            value += 4;
        }
        return;
    }
    for (int32_t i = 0; i < rows; ++i) {
        for (int32_t k = 0; k < count; ++k) {
            out[i][o + k] = cortexm_code(codes, o + k, value[4 * i + k]);
        }
    }
}

#else

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

#endif
