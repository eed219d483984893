/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "cases.h"
#include "floats.h"
#include "harness.h"

/* Floats of all kinds: any bit pattern, halves, and their neighbours. */
static float *random_floats(int32_t n)
{
    float *values = random_bytes(n * (int32_t)sizeof *values);

    for (int32_t i = 0; i < n; ++i) {
        if (one_in(2)) {
            values[i] = (float)between(-600, 600) * 0.5f;
        }
        if (one_in(4)) {
            values[i] = nextafterf(values[i], one_in(2) ? INFINITY : -INFINITY);
        }
        if (one_in(16)) {
            values[i] = one_in(2) ? INFINITY : -3.4e38f;
        }
    }
    return values;
}

static cortexm_quantize_t quantize_params(int32_t low, int32_t high, int normal)
{
    cortexm_quantize_t p;

    p.count = length();
    p.inv_scale = one_in(2) ? 1.0f : scale(normal);
    p.zero_point = (int16_t)(one_in(3) ? (one_in(2) ? low : high) : between(low, high));
    p.qmin = (int16_t)(one_in(3) ? between(low, high) : low);
    p.qmax = (int16_t)(one_in(3) ? between(p.qmin, high) : high);
    return p;
}

/* Some become halves, or nearly, when they are scaled. */
static void add_ties(float *values, int32_t n, float scale)
{
    for (int32_t i = 0; i < n; ++i) {
        if (one_in(4)) {
            values[i] = ((float)between(-260, 260) + 0.5f) / scale;
        }
    }
}

static int any_quantize_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref, int normal)
{
    const cortexm_quantize_t p = quantize_params(INT8_MIN, INT8_MAX, normal);
    float *in = random_floats(p.count);
    outputs_t o = outputs(p.count);

    add_ties(in, p.count, p.inv_scale);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int any_quantize_f32s16_case(quantize_s16_fn variant, quantize_s16_fn ref, int normal)
{
    const cortexm_quantize_t p = quantize_params(INT16_MIN, INT16_MAX, normal);
    float *in = random_floats(p.count);
    outputs_t o = outputs(2 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

static int any_dequantize_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref, int normal)
{
    const cortexm_dequantize_t p = {length(), scale(normal), (int16_t)code()};
    int8_t *in = random_bytes(p.count);
    outputs_t o = outputs(4 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int quantize_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref)
{
    return any_quantize_f32s8_case(variant, ref, 0);
}

int quantize_normal_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref)
{
    return any_quantize_f32s8_case(variant, ref, 1);
}

int dequantize_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref)
{
    return any_dequantize_s8f32_case(variant, ref, 0);
}

int dequantize_normal_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref)
{
    return any_dequantize_s8f32_case(variant, ref, 1);
}

int any_dequantize_s16f32_case(dequantize_s16_fn variant, dequantize_s16_fn ref, int normal)
{
    const cortexm_dequantize_t p = {length(), scale(normal),
                                    (int16_t)between(INT16_MIN, INT16_MAX)};
    int16_t *in = random_bytes(2 * p.count);
    outputs_t o = outputs(4 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int requantize_case(kernel_fn variant, kernel_fn ref, element_t from, element_t to)
{
    const kernel_fn both[] = {variant, ref};
    cortexm_requantize_t p;
    void *in;
    outputs_t o;

    p.count = length() * between(1, 3);
    p.multiplier = multiplier();
    /* A code is raised by at most as many bits as 32 have room for. */
    p.shift = (int8_t)(one_in(4) ? between(-31, from == S8 ? 22 : 14)
                                 : between(-9, from == S8 && to == S16 ? 9 : 1));
    p.in_zero_point = (int8_t)(from == S8 ? code() : 0);
    p.out_zero_point = (int8_t)(to == S8 ? code() : 0);
    if (to == S8) {
        int8_t low;
        int8_t high;

        clamp_range(&low, &high);
        p.act_min = low;
        p.act_max = high;
    } else {
        clamp_range_s16(&p.act_min, &p.act_max);
    }
    in = from == S8 ? random_bytes(p.count) : random_codes_s16(p.count);
    o = outputs(p.count * size_of(to));
    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(&p, in, o.data[i]);
    }
    free(in);
    return finish(&o);
}

int cast_case(kernel_fn variant, kernel_fn ref, element_t from, element_t to)
{
    const kernel_fn both[] = {variant, ref};
    const cortexm_cast_t p = {between(0, 40)};
    void *const in = elements(from, p.count, 1);
    const outputs_t o = outputs(p.count * size_of(to));

    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(&p, in, o.data[i]);
    }
    free(in);
    return finish(&o);
}

int center_case(kernel_fn variant, kernel_fn ref)
{
    const kernel_fn both[] = {variant, ref};
    const cortexm_cast_t p = {length() * between(1, 3)};
    const int32_t offset = between(0, 3);
    uint8_t *in = any_bytes(p.count + offset);
    outputs_t o = outputs(p.count + offset);
    int equal;

    for (int i = 0; i < 2; ++i) {
        memset(o.data[i], 0, (size_t)offset);
        ((call3_t)both[i])(&p, in + offset, (int8_t *)o.data[i] + offset);
    }
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)(p.count + offset));
    memset(o.data[0], 0, (size_t)offset);
    ((call3_t)variant)(&p, (int8_t *)o.data[0] + offset, (int8_t *)o.data[0] + offset);
    free(in);
    return finish(&o) && equal;
}

int lookup_case(kernel_fn variant, kernel_fn ref, element_t to, int in_turns)
{
    static const int8_t divisors[] = {1, 2, 3, 3, 4, 6, 8, 12, 24};
    const kernel_fn both[] = {variant, ref};
    cortexm_lookup_t p;
    uint8_t *in;
    void *table;
    outputs_t o;
    int equal;

    p.channels = in_turns || one_in(2) ? divisors[between(0, 8)] : between(1, 30);
    p.inner = p.channels > 1 && one_in(3) ? between(24, 60) : 1;
    p.count = p.channels * p.inner * (p.inner == 1 ? length() : between(1, 3));
    in = any_bytes(p.count);
    table = any_bytes(256 * p.channels * size_of(to));
    o = outputs(p.count * size_of(to));
    check_inside(&p);
    for (int i = 0; i < 2; ++i) {
        ((call4_t)both[i])(&p, in, table, o.data[i]);
    }
    equal = agree(&o);
    if (to == S8) {
        memcpy(o.data[0], in, (size_t)p.count);
        ((call4_t)variant)(&p, o.data[0], table, o.data[0]);
    }
    free(in);
    free(table);
    return finish(&o) && equal;
}
