/* SPDX-License-Identifier: Apache-2.0 */
/* What all instruction sets share: the order of a transform's numbers, and bands of a spectrum and their
 * logarithms. See kernels/README.md, spectrum. */
#ifndef CORTEXM_SPECTRUM_BANDS_H
#define CORTEXM_SPECTRUM_BANDS_H

#include <stdint.h>

#include "cortexm/params.h"
#include "cortexm/requantize.h"

/* A number below 2 * top, a power of two, counted up with its bits in reverse; after the last one, 0. */
static inline uint32_t cortexm_next_reversed(uint32_t number, uint32_t top)
{
    while (number & top) {
        number ^= top;
        top >>= 1;
    }
    return number | top;
}

/* log2(1 + i / 64) in Q16 modulo 2^16 */
static const uint16_t cortexm_logarithms[65] = {
    0, 1466, 2909, 4331, 5732, 7112, 8473, 9814, 11136, 12440, 13727, 14996, 16248, 17484, 18704,
    19909, 21098, 22272, 23433, 24579, 25711, 26830, 27936, 29029, 30109, 31178, 32234, 33279,
    34312, 35334, 36346, 37346, 38336, 39316, 40286, 41246, 42196, 43137, 44068, 44990, 45904,
    46809, 47705, 48593, 49472, 50344, 51207, 52063, 52911, 53751, 54584, 55410, 56229, 57040,
    57845, 58643, 59434, 60219, 60997, 61769, 62534, 63294, 64047, 64794, 0,
};

/* log2 in Q16 of 2^32 * high + low, high < 2^63, in lines between 64 numbers of each octave; 0 of 0. */
static inline int32_t cortexm_logarithm(uint64_t high, uint32_t low)
{
    int32_t whole = 31;
    uint32_t mantissa = low, rest, index, step;

    if (high != 0) {
        const int32_t zeros = __builtin_clzll(high);
        const uint64_t top = high << zeros;

        whole = 95 - zeros;
        mantissa = (uint32_t)(top >> 32);
        if (zeros > 32) {
            mantissa |= low >> (64 - zeros);
        }
    } else if (low != 0) {
        const int32_t zeros = __builtin_clz(low);

        whole = 31 - zeros;
        mantissa = low << zeros;
    } else {
        return 0;
    }
    index = (mantissa >> 25) & 63u;
    rest = (mantissa >> 9) & 0xffffu;
    step = (uint16_t)(cortexm_logarithms[index + 1] - cortexm_logarithms[index]);
    return (int32_t)(((uint32_t)whole << 16) + cortexm_logarithms[index] +
                     ((step * rest + (1u << 15)) >> 16));
}

/* floor(sqrt(value)), value < 2^62. The root of the value's upper bits x in [1/4, 1) is x / sqrt(x), with the
 * reciprocal, in Q30, by three of Newton's steps from a line that is off by less than 8 %. What that leaves
 * is less than 2^-26 of the result. */
static inline uint32_t cortexm_square_root(uint64_t value)
{
    int32_t zeros;
    uint32_t x, y, root;

    if (value == 0) {
        return 0;
    }
    zeros = (__builtin_clzll(value) - 2) & ~1;
    x = (uint32_t)((value << zeros) >> 30);
    y = 2297700000u - (uint32_t)(((uint64_t)x * 1277700000u) >> 32);
    for (int32_t i = 0; i < 3; ++i) {
        const uint32_t square = (uint32_t)(((uint64_t)y * y) >> 32);
        const uint32_t near_one = (uint32_t)(((uint64_t)square * x) >> 32);

        y = (uint32_t)(((uint64_t)y * ((3u << 28) - near_one)) >> 29);
    }
    root = (uint32_t)((((uint64_t)x * y) >> 31) >> (zeros / 2));
    while ((uint64_t)root * root > value) {
        --root;
    }
    while ((uint64_t)(root + 1) * (root + 1) <= value) {
        ++root;
    }
    return root;
}

/* The root of twice a magnitude, squared, and p->under_root. */
static inline uint32_t cortexm_magnitude(const cortexm_log_mel_t *p, uint64_t power)
{
    const uint64_t most = (UINT64_C(1) << 62) - 1;

    power += p->under_root;
    return cortexm_square_root(power < most ? power : most);
}

/* The code of a band from its sum, 2^32 * high + low, high < 2^60. */
static inline int32_t cortexm_band_code(const cortexm_log_mel_t *p, int32_t band, uint64_t high,
                                        uint32_t low)
{
    int64_t scaled;

    if (p->adds) {
        const uint64_t sum = (uint64_t)low + p->least_low;

        low = (uint32_t)sum;
        high += p->least_high + (sum >> 32);
    } else if (high < p->least_high || (high == p->least_high && low < p->least_low)) {
        high = p->least_high;
        low = p->least_low;
    }
    scaled = (int64_t)cortexm_logarithm(high, low) * p->gains[band] + p->offsets[band];
    return cortexm_clamp((int32_t)(scaled >> 32) >> (p->gain_shift - 32), p->act_min, p->act_max);
}

#endif
