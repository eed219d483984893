/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_mel, frame by frame, for a template that includes how complex numbers are multiplied before
 * (turn_scalar.h and its kin). See kernels/README.md for the formula.
 *
 * A frame's transform lies in scratch, points / 2 complex numbers, and in their place the powers of the
 * points / 2 + 1 bins.
 */
#ifndef CORTEXM_COMMON_LOG_MEL_H
#define CORTEXM_COMMON_LOG_MEL_H

#include "common/bands.h"
#include "common/stamp.h"
#include "common/transform.h"
#include "cortexm/kernels.h"

/* The square roots of 64-bit powers in their place. */
__attribute__((noinline)) static void take_roots(int32_t *powers, int32_t bins)
{
    for (int32_t k = 0; k < bins; ++k, powers += 2) {
        const uint64_t power = ((uint64_t)(uint32_t)powers[1] << 32) | (uint32_t)powers[0];

        powers[0] = (int32_t)cortexm_square_root(power);
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
                take_roots(z, p->points / 2 + 1);
            }
            add_bands(p, z, out);
        }
    }
}

#endif
