/* SPDX-License-Identifier: Apache-2.0 */
#include "floats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

float real(void)
{
    if (between(0, 3) == 0) {
        return 0.5f * (float)between(-8, 8);
    }
    return (float)between(-(1 << 20), (1 << 20) - 1) / (float)(1 << 18);
}

float *reals(int32_t count)
{
    float *values = allocate(count * (int32_t)sizeof *values);

    for (int32_t i = 0; i < count; ++i) {
        values[i] = real();
    }
    return values;
}

float *any_reals(int32_t count)
{
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, -NAN};
    float *const values = reals(count);

    for (int32_t i = 0; i < count; ++i) {
        if (one_in(4)) {
            values[i] = special[between(0, 5)];
        }
    }
    return values;
}

float *terms(int32_t count)
{
    /* Sums of products of such are subnormal, exact, halfway between two floats, or overflow. */
    static const int32_t exponents[] = {-149, -127, -75, -63, -24, -12, 0, 12, 63, 120};
    float *const values = reals(count);

    if (one_in(2)) {
        for (int32_t i = 0; i < count; ++i) {
            const float few_bits = (float)between(-3, 3);

            values[i] = ldexpf(one_in(2) ? few_bits : values[i], exponents[between(0, 9)]);
            if (one_in(256)) {
                values[i] = one_in(2) ? INFINITY : NAN;
            }
        }
    }
    return values;
}

float scale(int normal)
{
    if (one_in(16) && !normal) {
        return one_in(2) ? INFINITY : 1e-40f;
    }
    return ldexpf(1.0f + (float)(random32() >> 9) * 0x1p-23f, between(-12, 8));
}

outputs_t float_outputs(int32_t count)
{
    return outputs(count * (int32_t)sizeof(float));
}

static int is_close(float a, float b, closeness_t closeness)
{
    if (memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b))) {
        return 1;
    }
    if (closeness == EXACT || a == b) {
        return closeness != EXACT;
    }
    return closeness == CLOSE && fabsf(a - b) <= fmaxf(1.0f, fabsf(b)) * 0x1p-18f;
}

int finish_floats(const outputs_t *o, closeness_t closeness)
{
    const float *a = o->data[0];
    const float *b = o->data[1];

    for (int32_t i = 0; i < (o->size - 2 * GUARD) / (int32_t)sizeof *a; ++i) {
        if (!is_close(a[i], b[i], closeness)) {
            (void)finish(o);
            return 0;
        }
    }
    memcpy(o->data[0], o->data[1], (size_t)(o->size - 2 * GUARD));
    return finish(o);
}

int32_t image(int32_t strides[4], int32_t n, int32_t c, int32_t h, int32_t w)
{
    const int nhwc = between(0, 1);

    strides[0] = c * h * w;
    strides[1] = nhwc ? 1 : h * w;
    strides[2] = nhwc ? w * c : w;
    strides[3] = nhwc ? c : 1;
    return n * c * h * w;
}
