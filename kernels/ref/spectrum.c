/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ref.h"

typedef struct {
    int64_t re, im;
} complex_t;

/* (c - i s) z for the root c + i s with the number e of 4 * quarter, each product rounded to an even number */
static complex_t turned(complex_t z, const int32_t *roots, int e, int quarter)
{
    const int64_t half = ref_power_of_two(31);
    const int64_t unit = ref_power_of_two(32);
    int64_t c = roots[2 * (e % quarter)];
    int64_t s = roots[2 * (e % quarter) + 1];
    complex_t product;

    for (int turns = e / quarter; turns > 0; --turns) {
        const int64_t old = c;

        c = -s;
        s = old;
    }
    product.re = 2 * (ref_floor_div(z.re * c + half, unit) + ref_floor_div(z.im * s + half, unit));
    product.im = 2 * (ref_floor_div(z.im * c + half, unit) + ref_floor_div(-z.re * s + half, unit));
    return product;
}

static complex_t at(const int32_t *z, int i)
{
    const complex_t value = {z[2 * i], z[2 * i + 1]};

    return value;
}

static void put(int32_t *z, int i, int64_t re, int64_t im)
{
    z[2 * i] = (int32_t)re;
    z[2 * i + 1] = (int32_t)im;
}

/* The transform of count numbers, each `stride` apart in z, of a frame of p; the result is in z, too.
 * Even powers of two come from transforms of every fourth number, down to single ones, odd ones down
 * to pairs. Recursive: the four transforms are moved together through `spare`. */
static void transform(const cortexm_log_mel_t *p, int32_t *z, int stride, int count, int32_t *spare)
{
    const int span = count / 4;
    const int quarter = p->points / 4;

    if (count == 2) {
        const complex_t a = at(z, 0);
        const complex_t b = at(z, stride);

        put(z, 0, a.re + b.re, a.im + b.im);
        put(z, stride, a.re - b.re, a.im - b.im);
    }
    if (count <= 2) {
        return;
    }
    for (int q = 0; q < 4; ++q) {
        transform(p, z + 2 * q * stride, 4 * stride, span, spare);
    }
    for (int i = 0; i < count; ++i) {
        const complex_t value = at(z, i * stride);

        put(spare, i, value.re, value.im);
    }
    for (int j = 0; j < span; ++j) {
        const int step = p->points / count;
        complex_t t[4];

        for (int q = 0; q < 4; ++q) {
            t[q] = at(spare, 4 * j + q);
            if (q > 0 && span > 1) {
                t[q] = turned(t[q], p->roots, q * j * step, quarter);
            }
        }
        put(z, j * stride, t[0].re + t[1].re + t[2].re + t[3].re,
            t[0].im + t[1].im + t[2].im + t[3].im);
        put(z, (j + span) * stride, t[0].re + t[1].im - t[2].re - t[3].im,
            t[0].im - t[1].re - t[2].im + t[3].re);
        put(z, (j + 2 * span) * stride, t[0].re - t[1].re + t[2].re - t[3].re,
            t[0].im - t[1].im + t[2].im - t[3].im);
        put(z, (j + 3 * span) * stride, t[0].re - t[1].im - t[2].re + t[3].im,
            t[0].im + t[1].re - t[2].im - t[3].re);
    }
}

/* Twice the magnitude of bin k of the real frame, squared, from the transform of its pairs. */
static uint64_t power(const cortexm_log_mel_t *p, const int32_t *z, int k)
{
    const int half = p->points / 2;
    const int mirror = k > half / 2 ? half - k : k;
    const complex_t a = at(z, mirror);
    const complex_t b = at(z, (half - mirror) % half);
    complex_t odd = {a.im + b.im, b.re - a.re};
    int64_t re, im;

    if (mirror == 0) {
        re = 2 * (k == 0 ? a.re + a.im : a.re - a.im);
        im = 0;
    } else if (k == half / 2) {
        re = 2 * a.re;
        im = 2 * a.im;
    } else {
        odd = turned(odd, p->roots, mirror, p->points / 4);
        re = a.re + b.re + (k == mirror ? odd.re : -odd.re);
        im = a.im - b.im + (k == mirror ? odd.im : -odd.im);
    }
    return (uint64_t)(re * re) + (uint64_t)(im * im);
}

static uint64_t square_root(uint64_t value)
{
    uint64_t root = 0;

    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit /= 2) {
        if ((root + bit) * (root + bit) <= value) {
            root += bit;
        }
    }
    return root;
}

static int64_t logarithm_entry(uint32_t i)
{
    return (int64_t)floor(65536.0 * log2(1.0 + (double)i / 64.0) + 0.5);
}

/* log2 in Q16 of 2^32 * high + low, low < 2^32: its bits are moved up until the first is that of 2^95. */
static int64_t logarithm(uint64_t high, uint64_t low)
{
    int whole = 95;
    uint32_t i;
    int64_t rest;

    if (high == 0 && low == 0) {
        return 0;
    }
    while (high >> 63 == 0) {
        high = 2 * high + (low >> 31);
        low = 2 * low % ((uint64_t)1 << 32);
        --whole;
    }
    i = (uint32_t)(high >> 57) % 64;
    rest = (int64_t)(high >> 41) % 65536;
    return whole * 65536 + logarithm_entry(i) +
           ref_floor_div((logarithm_entry(i + 1) - logarithm_entry(i)) * rest + 32768, 65536);
}

static int64_t band_code(const cortexm_log_mel_t *p, const int32_t *z, int band, const int16_t *weights)
{
    const uint64_t unit = (uint64_t)1 << 32;
    const uint64_t least_high = p->least_high;
    uint64_t high = p->adds ? least_high : 0;
    uint64_t low = p->adds ? p->least_low : 0;

    for (int i = 0; i < p->bins[2 * band + 1]; ++i) {
        const uint64_t squared = power(p, z, p->bins[2 * band] + i);
        const uint64_t most = unit / 4 * unit - 1;
        const uint64_t sum = squared < most - p->under_root ? squared + p->under_root : most;
        const uint64_t value = p->square_roots ? square_root(sum) : squared;

        low += value % unit * (uint64_t)weights[i];
        high += value / unit * (uint64_t)weights[i] + low / unit;
        low %= unit;
    }
    if (!p->adds && (high < least_high || (high == least_high && low < p->least_low))) {
        high = least_high;
        low = p->least_low;
    }
    return ref_clamp(ref_floor_div(logarithm(high, low) * p->gains[band] + p->offsets[band],
                                   ref_power_of_two(p->gain_shift)),
                     p->act_min, p->act_max);
}

/* Scratch: twice that of the kernel. */
#define LOG_MEL(to, type)                                                                          \
    CORTEXM_LOG_MEL(cortexm_log_mel_s16##to##_ref, type)                                           \
    {                                                                                              \
        const cortexm_log_mel_t *const p = params;                                                 \
        int32_t *const z = scratch;                                                                \
                                                                                                   \
        for (int i = 0; i < p->signals * p->frames; ++i) {                                         \
            const int16_t *const frame =                                                           \
                in + i / p->frames * p->samples + p->start + i % p->frames * p->hop;               \
            const int16_t *weights = p->weights;                                                   \
                                                                                                   \
            for (int n = 0; n < p->points; ++n) {                                                  \
                const int32_t product = n < p->frame ? frame[n] * p->window[n] : 0;                \
                                                                                                   \
                z[n] = (int32_t)ref_floor_div(product + ref_power_of_two(p->shift - 1),            \
                                              ref_power_of_two(p->shift));                         \
            }                                                                                      \
            transform(p, z, 1, p->points / 2, z + p->points);                                      \
            for (int band = 0; band < p->bands; ++band) {                                          \
                out[i * p->bands + band] = (type)band_code(p, z, band, weights);                   \
                weights += p->bins[2 * band + 1];                                                  \
            }                                                                                      \
        }                                                                                          \
    }

LOG_MEL(s8, int8_t)
LOG_MEL(s16, int16_t)
