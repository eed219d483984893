/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "harness.h"

/* Of a transform of as many points as memory allows on every board. */
static int32_t *random_roots(int32_t points)
{
    int32_t *roots = allocate(8 * (points / 4));

    for (int32_t k = 0; k < points / 4; ++k) {
        const double angle = 6.283185307179586 * (double)k / (double)points;

        roots[2 * k] = k == 0 ? INT32_MAX : (int32_t)floor(cos(angle) * 2147483648.0 + 0.5);
        roots[2 * k + 1] = (int32_t)floor(sin(angle) * 2147483648.0 + 0.5);
    }
    return roots;
}

/* A window and a shift with which no sum of samples times window exceeds 2^30. */
static int16_t *random_window(cortexm_log_mel_t *p)
{
    int16_t *window = one_in(3) ? random_bytes(2 * p->frame) : random_codes_s16(p->frame);
    uint64_t sum = 0;

    if (one_in(3)) {
        for (int32_t i = 0; i < p->frame; ++i) {
            window[i] = (int16_t)(32767 * i / p->frame);
        }
    }
    for (int32_t i = 0; i < p->frame; ++i) {
        sum += (uint64_t)abs(window[i]) << 15;
    }
    p->shift = 1;
    while ((sum >> p->shift) + 4 * (uint64_t)p->points + p->frame >= (UINT64_C(1) << 30)) {
        ++p->shift;
    }
    return window;
}

static void random_bands(cortexm_log_mel_t *p, int16_t *bins, int32_t *gains, int64_t *offsets)
{
    const int32_t all = p->points / 2 + 1;

    for (int32_t b = 0; b < p->bands; ++b) {
        const int32_t count = one_in(8) ? all : between(1, 9);

        bins[2 * b] = (int16_t)(one_in(4) ? all - count : between(0, all - count));
        bins[2 * b + 1] = (int16_t)count;
        gains[b] = (int32_t)(random32() >> between(1, 12));
        gains[b] = one_in(8) ? -gains[b] : gains[b];
        offsets[b] = -(int64_t)gains[b] * between(0, 80 << 16);
    }
}

int any_log_mel_case(kernel_fn variant, kernel_fn ref, element_t to)
{
    const kernel_fn both[] = {variant, ref};
    const int32_t code_bits = to == S8 ? 8 : 16;
    cortexm_log_mel_t p;
    int32_t samples, weights = 0;
    int16_t *in, *bins, *window, *weight;
    int32_t *roots, *gains, *scratch;
    int64_t *offsets;
    outputs_t o;

    p.points = (uint16_t)(64 << between(0, one_in(4) ? 3 : 1));
    p.frame = (uint16_t)(one_in(2) ? p.points : between(1, p.points));
    p.signals = between(1, 2);
    p.frames = between(1, 3);
    p.start = one_in(2) ? 0 : between(0, 9);
    p.hop = between(1, 40);
    samples = p.start + (p.frames - 1) * p.hop + p.frame;
    p.samples = p.signals > 1 ? samples + between(0, 5) : samples;
    p.bands = (uint16_t)between(1, 12);
    in = one_in(4) ? random_bytes(2 * p.signals * p.samples) : random_codes_s16(p.signals * p.samples);
    if (one_in(3)) {
        const int32_t loud = between(0, 100); /* silence, or almost */

        for (int32_t i = 0; i < p.signals * p.samples; ++i) {
            in[i] = (int16_t)between(-loud, loud);
        }
    }
    window = random_window(&p);
    roots = random_roots(p.points);
    bins = allocate(4 * p.bands);
    gains = allocate(4 * p.bands);
    offsets = allocate(8 * p.bands);
    random_bands(&p, bins, gains, offsets);
    for (int32_t b = 0; b < p.bands; ++b) {
        weights += bins[2 * b + 1];
    }
    weight = random_bytes(2 * weights);
    for (int32_t i = 0; i < weights; ++i) {
        weight[i] = (int16_t)(one_in(8) ? INT16_MAX : weight[i] & INT16_MAX);
    }
    p.least_high = one_in(2) ? 0 : (uint64_t)random32() << between(0, 27);
    p.least_low = one_in(4) ? 0 : random32();
    p.adds = (uint8_t)one_in(2);
    p.square_roots = (uint8_t)one_in(4);
    p.under_root = one_in(2) ? 0 : ((uint64_t)random32() << 30) >> between(0, 50);
    p.gain_shift = (uint8_t)(one_in(8) ? between(32, 62) : between(36, 48));
    p.act_max = (int16_t)between(0, (1 << (code_bits - 1)) - 1);
    p.act_min = (int16_t)-between(0, 1 << (code_bits - 1));
    p.window = window;
    p.roots = roots;
    p.bins = bins;
    p.weights = weight;
    p.gains = gains;
    p.offsets = offsets;
    o = outputs(p.signals * p.frames * p.bands * code_bits / 8);
    for (int i = 0; i < 2; ++i) {
        scratch = i == 0 ? scratch_for(&p) : allocate(8 * p.points);
        if (to == S8) {
            ((log_mel_s8_fn)both[i])(&p, in, o.data[i], scratch);
        } else {
            ((log_mel_s16_fn)both[i])(&p, in, o.data[i], scratch);
        }
        free(scratch);
    }
    free(in);
    free(window);
    free(roots);
    free(bins);
    free(gains);
    free(offsets);
    free(weight);
    return finish(&o);
}
