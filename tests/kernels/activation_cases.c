/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "floats.h"
#include "harness.h"

int activation_s8_case(activation_fn variant, activation_fn ref)
{
    const cortexm_activation_s8_t p = {length() * between(1, 5)};
    int8_t *in = random_bytes(p.count);
    int8_t *table = random_bytes(256);
    outputs_t o = outputs(p.count);
    int equal;

    variant(&p, in, table, o.data[0]);
    ref(&p, in, table, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)p.count);
    variant(&p, o.data[0], table, o.data[0]);
    free(in);
    free(table);
    return finish(&o) && equal;
}

/* With differences that have 32 bits, or those alone whose exponential counts (`few`). */
static int softmax_codes(softmax_fn variant, softmax_fn ref, int32_t factor, int32_t size, int few)
{
    const int32_t shift = between(15, 24);
    const int32_t lowest = few ? 0x3fffffff / ((factor >> (31 - shift)) + 1) : 1 << (31 - shift);
    cortexm_softmax_s8_t p;
    int32_t count;
    int8_t *in;
    outputs_t o;
    int equal;

    p.outer = between(1, 3);
    p.inner = one_in(2) ? 1 : between(2, 5);
    p.size = size;
    p.multiplier = factor;
    p.shift = shift;
    p.diff_min = one_in(3) ? -255 : -between(0, 255);
    if (p.diff_min < -lowest) {
        p.diff_min = -lowest;
    }
    count = p.outer * p.inner * p.size;
    in = random_bytes(count);
    if (one_in(4)) {
        memset(in, between(0, 255), (size_t)count); /* equal codes: the largest sums */
    }
    o = outputs(count);
    check_inside(&p);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)count);
    variant(&p, o.data[0], o.data[0]);
    free(in);
    return finish(&o) && equal;
}

int softmax_s8_case(softmax_fn variant, softmax_fn ref)
{
    const int32_t size = one_in(16) ? between(300, 2000) : length();

    return softmax_codes(variant, ref, multiplier(), size, 0);
}

int softmax_few_s8_case(softmax_fn variant, softmax_fn ref)
{
    return softmax_codes(variant, ref, between(1 << 30, INT32_MAX), between(1, 64), 1);
}

/* Exponentials fall with the distance; a few are equal, and some are 0. Into other memory, then in place. */
int softmax_table_s8_case(softmax_table_fn variant, softmax_table_fn ref)
{
    cortexm_softmax_s8_t p = {0};
    int32_t table[256];
    int32_t count;
    int8_t *in;
    outputs_t o;
    int equal;

    p.outer = between(1, 3);
    p.inner = one_in(2) ? 1 : between(2, 11);
    p.size = one_in(16) ? between(300, 2000) : length();
    count = p.outer * p.inner * p.size;
    in = random_bytes(count);
    if (one_in(3)) {
        for (int32_t i = 0; i < count; ++i) {
            in[i] = (int8_t)between(-3, 3);
        }
    } else if (one_in(4)) {
        memset(in, between(0, 255), (size_t)count); /* equal codes: the largest sums */
    }
    table[255] = INT32_MAX;
    for (int i = 254; i >= 0; --i) {
        table[i] = one_in(8) ? table[i + 1] : between(0, table[i + 1]);
    }
    o = outputs(count);
    variant(&p, in, table, o.data[0]);
    ref(&p, in, table, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)count);
    variant(&p, o.data[0], table, o.data[0]);
    free(in);
    return finish(&o) && equal;
}

/* A table of int16 codes; a smooth one has no steps of more than 2^15 - 1, often of as much. */
int16_t *table_s16(int32_t bits, int is_smooth)
{
    const int32_t count = (65536 >> bits) + 1;
    const int32_t most = one_in(2) ? INT16_MAX : between(0, 600);
    int16_t *const table = random_codes_s16(count);

    for (int32_t i = 1; is_smooth && i < count; ++i) {
        int32_t step = one_in(3) ? (one_in(2) ? most : -most) : between(-most, most);

        if (table[i - 1] + step > INT16_MAX || table[i - 1] + step < INT16_MIN) {
            step = -step;
        }
        table[i] = (int16_t)(table[i - 1] + step);
    }
    return table;
}

int any_activation_s16_case(activation_s16_fn variant, activation_s16_fn ref, int is_smooth)
{
    const cortexm_activation_s16_t p = {length() * between(1, 5), between(4, 7)};
    int16_t *in = random_codes_s16(p.count);
    int16_t *table = table_s16(p.bits, is_smooth);
    outputs_t o = outputs(2 * p.count);
    int equal;

    variant(&p, in, table, o.data[0]);
    ref(&p, in, table, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, 2 * (size_t)p.count);
    variant(&p, o.data[0], table, o.data[0]);
    free(in);
    free(table);
    return finish(&o) && equal;
}

/* Columns of up to `most` elements, and a multiplier of so many bits. */
int any_softmax_s16_case(softmax_s16_fn variant, softmax_s16_fn ref, int32_t most, int32_t bits)
{
    cortexm_softmax_s16_t p;
    int32_t count;
    int16_t *in;
    outputs_t o;
    int equal;

    p.outer = between(1, 6);
    p.inner = one_in(2) ? 1 : between(2, 11);
    p.size = one_in(16) ? between(300, 700) : length();
    p.size = p.size > most || (most < 100 && one_in(8)) ? (one_in(2) ? most : between(1, most)) : p.size;
    p.multiplier = one_in(4) ? (one_in(2) ? UINT32_MAX : (uint32_t)between(0, 1))
                             : random32() >> between(0, 20);
    if (one_in(4)) {
        p.multiplier = UINT32_C(1) << between(0, 31); /* exponents without a fraction */
    }
    p.multiplier >>= 32 - bits;
    count = p.outer * p.inner * p.size;
    in = random_codes_s16(count);
    if (one_in(3)) {
        const int32_t about = between(-32000, 32000);

        for (int32_t i = 0; i < count; ++i) {
            in[i] = (int16_t)between(about - 200, about + 200);
        }
    }
    if (one_in(8)) {
        memset(in, between(0, 255), 2 * (size_t)count); /* equal codes: the largest sums */
    }
    o = outputs(2 * count);
    check_inside(&p);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, 2 * (size_t)count);
    variant(&p, o.data[0], o.data[0]);
    free(in);
    return finish(&o) && equal;
}

/* Exponentials, of which one code has nearly 1, and reciprocals. Into other memory, then in place. */
int softmax_interpolated_s16_case(softmax_interpolated_s16_fn variant,
                                  softmax_interpolated_s16_fn ref)
{
    const cortexm_softmax_interpolated_s16_t p = {between(1, 4), length(), between(1, 4),
                                                  multiplier(), between(-12, 15)};
    const int32_t count = p.outer * p.size * p.inner;
    int16_t *const in = random_codes_s16(count);
    int16_t table[2 * 513];
    const outputs_t o = outputs(2 * count);
    int equal;

    for (int i = 0; i < 2 * 513; ++i) {
        table[i] = (int16_t)between(i < 511 ? 0 : 16384, 32767);
    }
    check_inside(&p);
    variant(&p, in, table, o.data[0]);
    ref(&p, in, table, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, 2 * (size_t)count);
    variant(&p, o.data[0], table, o.data[0]);
    free(in);
    return finish(&o) && equal;
}

int sigmoid_s16_case(sigmoid_s16_fn variant, sigmoid_s16_fn ref)
{
    const cortexm_sigmoid_s16_t p = {length(), (int16_t)between(0, 32767), (int8_t)between(0, 31),
                                     (int8_t)one_in(2)};
    int16_t *const in = random_codes_s16(p.count);
    int16_t table[256];
    const outputs_t o = outputs(2 * p.count);

    for (int i = 0; i < 256; ++i) {
        table[i] = (int16_t)between(0, 32766);
    }
    check_inside(&p);
    variant(&p, in, table, o.data[0]);
    ref(&p, in, table, o.data[1]);
    free(in);
    return finish(&o);
}

static int any_softmax_f32_case(softmax_f32_fn variant, softmax_f32_fn ref, closeness_t closeness)
{
    cortexm_softmax_f32_t p;
    int32_t count;
    float *in;
    outputs_t o;

    p.outer = between(1, 4);
    p.size = between(1, 12);
    p.inner = between(1, 4);
    count = p.outer * p.size * p.inner;
    in = closeness == EXACT ? reals(count) : any_reals(count);
    o = float_outputs(count);
    check_inside(&p);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return closeness == EXACT ? finish(&o) : finish_floats(&o, closeness);
}

int softmax_f32_case(softmax_f32_fn variant, softmax_f32_fn ref)
{
    return any_softmax_f32_case(variant, ref, EXACT);
}

int softmax_close_f32_case(softmax_f32_fn variant, softmax_f32_fn ref)
{
    return any_softmax_f32_case(variant, ref, CLOSE);
}

static int any_unary_case(unary_fn variant, unary_fn ref, closeness_t closeness, int subnormal)
{
    cortexm_unary_f32_t p;
    float *in;
    outputs_t o;

    p.count = between(1, 40);
    p.alpha = real();
    p.scale = real();
    p.input_scale = real();
    in = any_reals(p.count);
    if (closeness != EXACT && one_in(2)) { /* as far as exponentials go, and further */
        p.input_scale = 1.0f;
        for (int32_t i = 0; i < p.count; ++i) {
            in[i] *= 30.0f;
        }
    }
    for (int32_t i = 0; i < p.count && subnormal; ++i) {
        if (one_in(8)) {
            in[i] = ldexpf(in[i], -130);
        }
    }
    o = float_outputs(p.count);
    check_inside(&p);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish_floats(&o, closeness);
}

int unary_f32_case(unary_fn variant, unary_fn ref)
{
    return any_unary_case(variant, ref, EXACT, 0);
}

int unary_subnormal_f32_case(unary_fn variant, unary_fn ref)
{
    return any_unary_case(variant, ref, EXACT, 1);
}

int unary_close_f32_case(unary_fn variant, unary_fn ref)
{
    return any_unary_case(variant, ref, CLOSE, 1);
}

int clamp_f32_case(clamp_f32_fn variant, clamp_f32_fn ref)
{
    cortexm_clamp_f32_t p;
    float *in;
    outputs_t o;

    p.count = between(1, 40);
    p.low = one_in(4) ? -INFINITY : one_in(3) ? 0.0f : real();
    p.high = one_in(4) ? INFINITY : fmaxf(p.low, real());
    in = any_reals(p.count);
    o = float_outputs(p.count);
    check_inside(&p);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish_floats(&o, EXACT);
}

#define CLAMP_CASE(name, type, lowest, highest)                                                    \
    int clamp_##name##_case(clamp_##name##_fn variant, clamp_##name##_fn ref)                      \
    {                                                                                              \
        cortexm_clamp_t p;                                                                         \
        type *in;                                                                                  \
        outputs_t o;                                                                               \
                                                                                                   \
        p.count = between(1, 40);                                                                  \
        p.low = between(0, 3) == 0 ? (lowest) : between(0, 60);                                    \
        p.high = between(0, 3) == 0 ? (highest) : between(60, 120);                                \
        in = any_bytes(p.count * (int32_t)sizeof *in);                                             \
        o = outputs(p.count * (int32_t)sizeof *in);                                                \
        variant(&p, in, o.data[0]);                                                                \
        ref(&p, in, o.data[1]);                                                                    \
        free(in);                                                                                  \
        return finish(&o);                                                                         \
    }

CLAMP_CASE(s8, int8_t, INT8_MIN, INT8_MAX)
CLAMP_CASE(u8, uint8_t, 0, UINT8_MAX)
CLAMP_CASE(s16, int16_t, INT16_MIN, INT16_MAX)
CLAMP_CASE(s32, int32_t, INT32_MIN, INT32_MAX)
CLAMP_CASE(s64, int64_t, INT64_MIN, INT64_MAX)
