/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_mel, frame by frame. See kernels/README.md, spectrum, for the order of the operations, which decides
 * how they round, and docs/numerics.md for why no sum overflows.
 *
 * A frame's transform lies in scratch, points / 2 complex numbers as pairs, real part first, and in their
 * place the powers of the points / 2 + 1 bins. `roots` are cos and sin of 2 pi k / points in Q31 for the
 * first quarter of all k.
 *
 * The template of an instruction set defines before how numbers are multiplied: cortexm_high_half, which
 * is floor((a * b + 2^31) / 2^32), or cortexm_turn, also as a macro; it may so define cortexm_square
 * and cortexm_weighted.
 */
#ifndef CORTEXM_SPECTRUM_LOG_MEL_H
#define CORTEXM_SPECTRUM_LOG_MEL_H

#include <stdint.h>

#include "common/stamp.h"
#include "cortexm/kernels.h"
#include "spectrum/bands.h"

/* What an instruction set has no better way for. */
#ifndef cortexm_turn
/* (*re + i * *im) * (c - i * s) for a root c + i * s in Q31: each product is rounded to an even number.
 * *re is not -2^31. */
static inline void cortexm_turn(int32_t *re, int32_t *im, int32_t c, int32_t s)
{
    const int32_t a = *re;
    const int32_t b = *im;

    *re = 2 * (cortexm_high_half(a, c) + cortexm_high_half(b, s));
    *im = 2 * (cortexm_high_half(b, c) + cortexm_high_half(-a, s));
}
#endif

#ifndef cortexm_square
/* In 64 bits. */
static inline uint64_t cortexm_square(int32_t x)
{
    return (uint64_t)((int64_t)x * x);
}

/* weight < 2^16 */
static inline uint64_t cortexm_weighted(uint32_t weight, uint32_t x)
{
    return (uint64_t)weight * x;
}
#endif

/* The complex number `i` of a windowed frame: its samples 2 i and 2 i + 1. */
static inline void cortexm_load_pair(const int16_t *in, const int16_t *window, int32_t frame,
                                     int32_t shift, uint32_t i, int32_t *re, int32_t *im)
{
    const int32_t half = 1 << (shift - 1);
    const int32_t n = 2 * (int32_t)i;

    *re = n < frame ? (in[n] * window[n] + half) >> shift : 0;
    *im = n + 1 < frame ? (in[n + 1] * window[n + 1] + half) >> shift : 0;
}

/* Windows a frame and transforms its complex numbers in twos: even powers of two of them in fours. They
 * come to lie at their number with its bits in reverse. Returns how many were transformed at once. */
__attribute__((noinline)) static uint32_t
cortexm_first_stage(const int16_t *in, const int16_t *window, int32_t frame, int32_t shift,
                    uint32_t count, int32_t *out)
{
    uint32_t reversed = 0;

    if (__builtin_ctz(count) % 2 != 0) {
        for (uint32_t i = 0; i < count / 2; ++i) {
            int32_t *const to = out + 4 * reversed;
            int32_t a, b, e, f;

            cortexm_load_pair(in, window, frame, shift, i, &a, &e);
            cortexm_load_pair(in, window, frame, shift, i + count / 2, &b, &f);
            to[0] = a + b;
            to[1] = e + f;
            to[2] = a - b;
            to[3] = e - f;
            reversed = cortexm_next_reversed(reversed, count / 4);
        }
        return 2;
    }
    for (uint32_t i = 0; i < count / 4; ++i) {
        int32_t *const to = out + 8 * reversed;
        int32_t a, b, c, d, e, f, g, h;

        cortexm_load_pair(in, window, frame, shift, i, &a, &e);
        cortexm_load_pair(in, window, frame, shift, i + count / 4, &b, &f);
        cortexm_load_pair(in, window, frame, shift, i + count / 2, &c, &g);
        cortexm_load_pair(in, window, frame, shift, i + 3 * (count / 4), &d, &h);
        to[0] = (a + c) + (b + d);
        to[1] = (e + g) + (f + h);
        to[2] = (a - c) + (f - h);
        to[3] = (e - g) - (b - d);
        to[4] = (a + c) - (b + d);
        to[5] = (e + g) - (f + h);
        to[6] = (a - c) - (f - h);
        to[7] = (e - g) + (b - d);
        reversed = cortexm_next_reversed(reversed, count / 8);
    }
    return 4;
}

typedef struct {
    int32_t c, s;
} cortexm_root_t;

/* Root e of 4 * quarter, e < 3 * quarter. */
static inline cortexm_root_t cortexm_root(const int32_t *roots, uint32_t e, uint32_t quarter)
{
    const int32_t *const at = roots + 2 * (e & (quarter - 1));
    cortexm_root_t root = {at[0], at[1]};

    if (e >= 2 * quarter) {
        root.c = -root.c;
        root.s = -root.s;
    } else if (e >= quarter) {
        const int32_t c = root.c;

        root.c = -root.s;
        root.s = c;
    }
    return root;
}

/* Joins transforms of `span` numbers in fours, until there is one of all. */
__attribute__((noinline)) static void
cortexm_next_stages(int32_t *z, const int32_t *roots, uint32_t count, uint32_t span)
{
    for (; span < count; span *= 4) {
        const uint32_t step = count / (2 * span); /* roots are of 2 * count */

        for (uint32_t j = 0; j < span; ++j) {
            const cortexm_root_t one = cortexm_root(roots, j * step, count / 2);
            const cortexm_root_t two = cortexm_root(roots, 2 * j * step, count / 2);
            const cortexm_root_t three = cortexm_root(roots, 3 * j * step, count / 2);
            int32_t *const end = z + 2 * count;

            for (int32_t *p = z + 2 * j; p < end; p += 8 * span) {
                int32_t *const q = p + 4 * span;
                int32_t a = p[0], e = p[1], c = p[2 * span], g = p[2 * span + 1];
                int32_t b = q[0], f = q[1], d = q[2 * span], h = q[2 * span + 1];
                int32_t r;

                cortexm_turn(&c, &g, two.c, two.s);
                r = a - c;
                a += c;
                c = e - g;
                e += g;
                cortexm_turn(&b, &f, one.c, one.s);
                cortexm_turn(&d, &h, three.c, three.s);
                g = b - d;
                b += d;
                d = f - h;
                f += h;
                p[0] = a + b;
                p[1] = e + f;
                p[2 * span] = r + d;
                p[2 * span + 1] = c - g;
                q[0] = a - b;
                q[1] = e - f;
                q[2 * span] = r - d;
                q[2 * span + 1] = c + g;
            }
        }
    }
}

/* Writes the lower and the upper half of the square of twice a number's magnitude. */
static inline void cortexm_store_power(int32_t *to, int32_t re, int32_t im)
{
    const uint64_t power = cortexm_square(re) + cortexm_square(im);

    to[0] = (int32_t)power;
    to[1] = (int32_t)(power >> 32);
}

/* From the transform of `count` complex numbers that of the 2 * count real ones, and of the `count` + 1
 * bins of that the squares of twice their magnitudes, of 64 bits each, in the place of the numbers. */
__attribute__((noinline)) static void
cortexm_powers(int32_t *z, const int32_t *roots, uint32_t count)
{
    const int32_t re = z[0];
    const int32_t im = z[1];
    int32_t *low = z + 2;
    int32_t *high = z + 2 * (count - 1);
    const int32_t *root = roots + 2;

    for (; low != high; low += 2, high -= 2, root += 2) {
        const int32_t a = low[0] + high[0];
        const int32_t b = low[1] - high[1];
        int32_t c = low[1] + high[1];
        int32_t d = high[0] - low[0];

        cortexm_turn(&c, &d, root[0], root[1]);
        cortexm_store_power(low, a + c, b + d);
        cortexm_store_power(high, a - c, d - b);
    }
    cortexm_store_power(low, 2 * low[0], 2 * low[1]);
    cortexm_store_power(z, 2 * (re + im), 0);
    cortexm_store_power(z + 2 * count, 2 * (re - im), 0);
}

/* Magnitudes in the place of 64-bit powers. */
__attribute__((noinline)) static void take_roots(const cortexm_log_mel_t *p, int32_t *powers)
{
    for (int32_t k = 0; k <= p->points / 2; ++k, powers += 2) {
        const uint64_t power = ((uint64_t)(uint32_t)powers[1] << 32) | (uint32_t)powers[0];

        powers[0] = (int32_t)cortexm_magnitude(p, power);
        powers[1] = 0;
    }
}

__attribute__((noinline)) static void
add_bands(const cortexm_log_mel_t *p, const int32_t *powers, RESULT *out)
{
    const int16_t *weight = p->weights;
    const int16_t *bins = p->bins;

    for (int32_t band = 0; band < p->bands; ++band, bins += 2) {
        const int32_t *power = powers + 2 * bins[0];
        const int16_t *const end = weight + bins[1];
        uint64_t low = 0;
        uint64_t high = 0;

        for (; weight != end; power += 2) {
            const uint32_t w = (uint32_t)*weight++;

            low += cortexm_weighted(w, (uint32_t)power[0]);
            high += cortexm_weighted(w, (uint32_t)power[1]);
        }
        out[band] = (RESULT)cortexm_band_code(p, band, high + (low >> 32), (uint32_t)low);
    }
}

CORTEXM_LOG_MEL(KERNEL, RESULT)
{
    const cortexm_log_mel_t *const p = params;
    const uint32_t count = (uint32_t)p->points / 2;
    int32_t *const z = scratch;

    for (int32_t signal = 0; signal < p->signals; ++signal, in += p->samples) {
        for (int32_t f = 0; f < p->frames; ++f, out += p->bands) {
            const int16_t *const frame = in + p->start + f * p->hop;
            const uint32_t span =
                cortexm_first_stage(frame, p->window, p->frame, p->shift, count, z);

            cortexm_next_stages(z, p->roots, count, span);
            cortexm_powers(z, p->roots, count);
            if (p->square_roots) {
                take_roots(p, z);
            }
            add_bands(p, z, out);
        }
    }
}

#endif
