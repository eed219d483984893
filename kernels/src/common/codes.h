/* SPDX-License-Identifier: Apache-2.0 */
/* Codes from sums, per channel, for the cores without SIMD: of int8, and of int16 from sums of 32 bits. */
#ifndef CORTEXM_COMMON_CODES_H
#define CORTEXM_COMMON_CODES_H

#include "common/nibbles.h"
#include "common/stamp.h"
#include "cortexm/requantize.h"

#if CODE_BITS == 8

/* Objects of one instruction set and the same types share these. */
#define cortexm_simple_codes CORTEXM_NAME(simple_codes, TYPES, ISA)
#define cortexm_are_simple CORTEXM_NAME(are_simple, TYPES, ISA)
#define cortexm_clamp_codes CORTEXM_NAME(clamp_codes, TYPES, ISA)
#define cortexm_put_any CORTEXM_NAME(put_any, TYPES, ISA)
#define cortexm_put_codes CORTEXM_NAME(put_codes, TYPES, ISA)

/* Assembler is called at once in the usual case, which one word tells apart. */
#define CORTEXM_TELLS_PLAIN_scalar 0
#define CORTEXM_TELLS_PLAIN_v6m 1
#define CORTEXM_TELLS_PLAIN_v7m 1
#if CORTEXM_JOIN(CORTEXM_TELLS_PLAIN_, ISA)
#define CORTEXM_TELLS_PLAIN
#endif

/* Requantization to codes; scalar values only, so that they stay in registers. */
typedef struct {
    const MULTIPLIER *multiplier;
    const int8_t *shift;
    int32_t zero_point, low, high;
    int32_t is_simple;  /* all shifts are -2 or less */
    int32_t is_clamped; /* low or high is not the end of int8 */
#ifdef CORTEXM_TELLS_PLAIN
    int32_t is_plain;   /* is simple, and not clamped */
#endif
} cortexm_codes_t;

/* The inputs of linear are words (linear_s8.inc), of which one load has two or four; those of others are
 * codes. Where it has four, one routine sums all blocks. */
#ifdef CORTEXM_QUAD_WORDS
typedef int32_t cortexm_quad_t;
#define CORTEXM_SUMS_ALL_v6m 0
#define CORTEXM_SUMS_ALL_v7m 1
#if CORTEXM_JOIN(CORTEXM_SUMS_ALL_, ISA)
#define CORTEXM_QUADS_ALL
#endif
#else
typedef int8_t cortexm_quad_t;
#endif

/* linear: what a chunk of a row is multiplied with; the assembler of v6m.h and v7m.h knows the order. */
typedef struct {
    const cortexm_quad_t *x;
    int32_t second; /* bytes to the second block of weights; 0: there is none */
    const cortexm_quad_t *end;
    uint32_t start; /* of all words */
    int32_t add;    /* to all sums */
#ifdef CORTEXM_QUADS_ALL
    int32_t next;        /* bytes from behind these inputs' weights to those of the next block */
    const int32_t *last; /* behind the last sum */
#endif
} cortexm_quads_t;

/* Rows are at most three. So many or more, a multiple of four, are the channels of one row: value[k] to
 * out[0][o + k]. */
#define CORTEXM_CHANNELS 4

#include CORTEXM_QUOTE(../common/ISA.h)

/* Whether all shifts are -2 or less. */
CORTEXM_SHARED int32_t cortexm_are_simple(const int8_t *shift, int32_t channels)
{
    while (channels > 0 && *shift <= -2) {
        ++shift;
        --channels;
    }
    return channels <= 0;
}

/* Codes, where it is known whether their shifts are. */
static inline cortexm_codes_t cortexm_codes_if(int32_t is_simple, const MULTIPLIER *multiplier,
                                               const int8_t *shift, int32_t zero_point, int32_t low,
                                               int32_t high)
{
    const int32_t is_clamped = low != INT8_MIN || high != INT8_MAX;

#ifdef CORTEXM_TELLS_PLAIN
    return (cortexm_codes_t){multiplier, shift,     zero_point, low,
                             high,       is_simple, is_clamped, is_simple && !is_clamped};
#else
    return (cortexm_codes_t){multiplier, shift,     zero_point, low,
                             high,       is_simple, is_clamped};
#endif
}

static inline cortexm_codes_t cortexm_codes(const MULTIPLIER *multiplier, const int8_t *shift,
                                            int32_t channels, int32_t zero_point, int32_t low,
                                            int32_t high)
{
    return cortexm_codes_if(cortexm_are_simple(shift, channels), multiplier, shift, zero_point, low,
                            high);
}

/* Codes of int8, out[i][o + k] as below, to [low, high]. */
CORTEXM_SHARED void cortexm_clamp_codes(const cortexm_codes_t *codes, int32_t o, int32_t rows,
                                        int8_t *const *out)
{
    const int32_t low = codes->low;
    const int32_t high = codes->high;

    do {
        int8_t *to = *out++ + o;

        for (const int8_t *const end = to + 4; to != end; ++to) {
            *to = (int8_t)cortexm_clamp(*to, low, high);
        }
    } while (--rows != 0);
}

/* out[i][o + k] = code of value[4 * i + k] of a simple layer, for `rows` > 0 pixels i and four channels
 * o + k: cortexm_simple_codes makes it a code of int8. */
static inline void cortexm_put_simple(const cortexm_codes_t *codes, int32_t o, const int32_t *value,
                                      int32_t rows, int8_t *const *out)
{
    cortexm_simple_codes(codes, o, value, rows, out);
    if (codes->is_clamped) {
        cortexm_clamp_codes(codes, o, rows, out);
    }
}

/* Those of a convolution, and the code of its padding. */
#define CORTEXM_CODES_OF(p)                                                                        \
    cortexm_codes((p)->multiplier, (p)->shift, (p)->out_c, (p)->out_zero_point, (p)->act_min,      \
                  (p)->act_max)
#define CORTEXM_IN_ZERO_POINT(p) (p)->in_zero_point

/* Any code. One way for shifts in both directions, as a shift to the right by nothing changes nothing. */
static inline int8_t cortexm_code(const cortexm_codes_t *codes, int32_t o, int32_t value)
{
    const int32_t shift = codes->shift[o];
    const int32_t left = cortexm_max(shift, 0);
    const int32_t high =
        cortexm_high_mul(cortexm_shift_left(value, left), CORTEXM_Q31(codes->multiplier[o]));

    return (int8_t)cortexm_add_zero_point(cortexm_rounding_shift(high, left - shift),
                                          codes->zero_point, codes->low, codes->high);
}

/* out[i][o + k] = code of value[4 * i + k] for `rows` > 0 pixels i and 1 <= `count` <= 4
 * channels o + k; of one row as many as there are. */
CORTEXM_SHARED void cortexm_put_any(const cortexm_codes_t *codes, int32_t o, int32_t count,
                                    const int32_t *value, int32_t rows, int8_t *const *out)
{
    int8_t *const *const last = out + rows;

    do {
        int8_t *const to = *out++;
        int32_t k = o;

        do {
            to[k] = cortexm_code(codes, k, value[k - o]);
        } while (++k < o + count);
        value += 4;
    } while (out != last);
}

/* The same. */
CORTEXM_SHARED void cortexm_put_codes(const cortexm_codes_t *codes, int32_t o, int32_t count,
                                      const int32_t *value, int32_t rows, int8_t *const *out)
{
    if (codes->is_simple && count == 4) {
        cortexm_put_simple(codes, o, value, rows, out);
    } else {
        cortexm_put_any(codes, o, count, value, rows, out);
    }
}

/* out[0][o + k] = code of value[k] for `count` channels o + k, a multiple of CORTEXM_CHANNELS. */
static inline void cortexm_put_channels(const cortexm_codes_t *codes, int32_t o, int32_t count,
                                        const int32_t *value, int8_t *const *out)
{
    if (codes->is_simple) {
        cortexm_simple_codes(codes, o, value, count, out);
        if (codes->is_clamped) {
            for (int32_t k = 0; k < count; k += 4) {
                cortexm_clamp_codes(codes, o + k, 1, out);
            }
        }
    } else {
        cortexm_put_any(codes, o, count, value, 1, out);
    }
}

/* The same for four channels. */
static inline void cortexm_put_fours(const cortexm_codes_t *codes, int32_t o, const int32_t *value,
                                     int32_t rows, int8_t *const *out)
{
#ifdef CORTEXM_TELLS_PLAIN
    if (codes->is_plain) {
        cortexm_simple_codes(codes, o, value, rows, out);
        return;
    }
#endif
    cortexm_put_codes(codes, o, 4, value, rows, out);
}

#else

#include "common/wide.h"

/* Objects of one instruction set share these. */
#define cortexm_put_narrow CORTEXM_JOIN(cortexm_put_narrow_, ISA)
#define cortexm_put_wide CORTEXM_JOIN(cortexm_put_wide_, ISA)

/* Requantization to codes; scalar values only, so that they stay in registers. */
typedef struct {
    const int16_t *multiplier;
    const int8_t *shift;
    int32_t low, high;
} cortexm_codes_t;

#include CORTEXM_QUOTE(../common/wide/ISA.h)

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

/* out[i][o] = code of sum[step * i] for `rows` > 0 pixels i, where the shift is more than -2. */
CORTEXM_SHARED void cortexm_put_wide(const cortexm_codes_t *codes, int32_t o, const int32_t *sum,
                                     int32_t step, int32_t rows, int16_t *const *out)
{
    int16_t *const *const end = out + rows;

    do {
        (*out++)[o] = cortexm_rescale_wide(*sum, codes->multiplier[o], codes->shift[o], codes->low,
                                           codes->high);
        sum += step;
    } while (out != end);
}

#ifndef CORTEXM_PUT_NARROW

/* The same for a shift of -2 or less. */
CORTEXM_SHARED void cortexm_put_narrow(const cortexm_codes_t *codes, int32_t o, const int32_t *sum,
                                       int32_t step, int32_t rows, int16_t *const *out)
{
    const int32_t multiplier = codes->multiplier[o];
    const int32_t shift = -2 - codes->shift[o];
    const int32_t low = codes->low;
    const int32_t high = codes->high;
    int16_t *const *const end = out + rows;

#ifdef CORTEXM_HALVES
    if (high == INT16_MAX && low == INT16_MIN) {
        do {
            (*out++)[o] = cortexm_half((cortexm_wide_product(*sum, multiplier) >> shift) + 1);
            sum += step;
        } while (out != end);
        return;
    }
    if (high == INT16_MAX && low == 0) {
        do {
            (*out++)[o] =
                cortexm_positive_half((cortexm_wide_product(*sum, multiplier) >> shift) + 1);
            sum += step;
        } while (out != end);
        return;
    }
#endif
    do {
        const int32_t value = (cortexm_wide_product(*sum, multiplier) >> shift) + 1;

        (*out++)[o] = (int16_t)cortexm_clamp(value >> 1, low, high);
        sum += step;
    } while (out != end);
}

#endif

/* The same. */
static inline void cortexm_put_rows(const cortexm_codes_t *codes, int32_t o, const int32_t *sum,
                                    int32_t step, int32_t rows, int16_t *const *out)
{
    if (codes->shift[o] <= -2) {
        cortexm_put_narrow(codes, o, sum, step, rows, out);
    } else {
        cortexm_put_wide(codes, o, sum, step, rows, out);
    }
}

/* out[i][o + k] = code of sum[4 * i + k] for `rows` > 0 pixels i and `count` <= 4 channels o + k. */
static inline void cortexm_put_codes(const cortexm_codes_t *codes, int32_t o, int32_t count,
                                     const int32_t *sum, int32_t rows, int16_t *const *out)
{
    for (const int32_t *const end = sum + count; sum != end; ++sum) {
        cortexm_put_rows(codes, o++, sum, 4, rows, out);
    }
}

static inline void cortexm_put_fours(const cortexm_codes_t *codes, int32_t o, const int32_t *sum,
                                     int32_t rows, int16_t *const *out)
{
    cortexm_put_codes(codes, o, 4, sum, rows, out);
}

#endif

#endif
