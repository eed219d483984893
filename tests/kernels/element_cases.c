/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "harness.h"

/* The result's size and the periods of two operands of which one may be broadcast. */
static void periods(int32_t *count, int32_t *a_period, int32_t *b_period)
{
    const int32_t inner = length();
    const int32_t middle = between(1, 4);

    *count = inner * middle * between(1, 3);
    *a_period = *count;
    *b_period = one_in(3) ? 1 : (one_in(2) ? inner : (one_in(2) ? inner * middle : *count));
    if (one_in(2)) {
        const int32_t a = *a_period;

        *a_period = *b_period;
        *b_period = a;
    }
    if (one_in(4)) {
        *a_period = one_in(2) ? 1 : inner;
    }
}

static int any_add_case(add_fn variant, add_fn ref, int shifts_right)
{
    cortexm_add_s8_t p;
    int8_t *a;
    int8_t *b;
    outputs_t o;
    int equal;

    periods(&p.count, &p.a_period, &p.b_period);
    p.a_multiplier = multiplier();
    p.b_multiplier = multiplier();
    p.out_multiplier = multiplier();
    p.a_shift = (int8_t)(one_in(8) ? between(-31, 3) : between(-4, 0));
    p.b_shift = (int8_t)(one_in(8) ? between(-31, 3) : between(-4, 0));
    p.out_shift = (int8_t)shift(28);
    if (shifts_right) {
        p.a_shift = (int8_t)(p.a_shift > 0 ? 0 : p.a_shift);
        p.b_shift = (int8_t)(p.b_shift > 0 ? 0 : p.b_shift);
        p.out_shift = (int8_t)(p.out_shift >= 0 ? -1 - p.out_shift : p.out_shift);
    }
    p.a_zero_point = (int16_t)code();
    p.b_zero_point = (int16_t)code();
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    equal = agree(&o);
    if (p.a_period == p.count) { /* in place */
        memcpy(o.data[0], a, (size_t)p.count);
        variant(&p, o.data[0], b, o.data[0]);
    }
    free(a);
    free(b);
    return finish(&o) && equal;
}

int add_s8_case(add_fn variant, add_fn ref)
{
    return any_add_case(variant, ref, 0);
}

int add_shifts_right_s8_case(add_fn variant, add_fn ref)
{
    return any_add_case(variant, ref, 1);
}

int mul_s8_case(mul_fn variant, mul_fn ref)
{
    cortexm_mul_s8_t p;
    int8_t *a;
    int8_t *b;
    outputs_t o;
    int equal;

    periods(&p.count, &p.a_period, &p.b_period);
    p.multiplier = multiplier();
    p.shift = (int8_t)shift(14);
    /* Not all zero points are codes. */
    p.a_zero_point = (int16_t)(one_in(4) ? between(-400, 400) : code());
    p.b_zero_point = (int16_t)(one_in(4) ? between(-400, 400) : code());
    p.out_zero_point = (int8_t)code();
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    equal = agree(&o);
    if (p.b_period == p.count) { /* in place */
        memcpy(o.data[0], b, (size_t)p.count);
        variant(&p, a, o.data[0], o.data[0]);
    }
    free(a);
    free(b);
    return finish(&o) && equal;
}

int minmax_s8_case(minmax_fn variant, minmax_fn ref)
{
    cortexm_minmax_t p;
    int8_t *a;
    int8_t *b;
    outputs_t o;

    periods(&p.count, &p.a_period, &p.b_period);
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    free(a);
    free(b);
    return finish(&o);
}

/* Leaves out of scale() what the case `normal_scale` of plan/kernels/requirements.py does. */
static int only_normal_scales = 0;

/* A positive float over many magnitudes, at times infinite. */
static float scale(void)
{
    if (one_in(16) && !only_normal_scales) {
        return one_in(2) ? INFINITY : 1e-40f;
    }
    return ldexpf(1.0f + (float)(random32() >> 9) * 0x1p-23f, between(-12, 8));
}

static cortexm_div_t div_params(int32_t low, int32_t high)
{
    cortexm_div_t p;

    p.count = length();
    do {
        p.scale = scale();
    } while (isinf(p.scale));
    p.a_zero_point = one_in(3) ? low : between(low, high);
    p.b_zero_point = one_in(3) ? high : between(low, high);
    p.out_zero_point = one_in(3) ? (one_in(2) ? low : high) : between(low, high);
    return p;
}

int div_s8_case(div_s8_fn variant, div_s8_fn ref)
{
    const cortexm_div_t p = div_params(INT8_MIN, INT8_MAX);
    int8_t *a = random_bytes(p.count);
    int8_t *b = random_bytes(p.count);
    outputs_t o = outputs(p.count);

    b[between(0, p.count - 1)] = (int8_t)p.b_zero_point;
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    free(a);
    free(b);
    return finish(&o);
}

int div_s16_case(div_s16_fn variant, div_s16_fn ref)
{
    const cortexm_div_t p = div_params(INT16_MIN, INT16_MAX);
    int16_t *a = random_bytes(2 * p.count);
    int16_t *b = random_bytes(2 * p.count);
    outputs_t o = outputs(2 * p.count);

    b[between(0, p.count - 1)] = (int16_t)p.b_zero_point;
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    free(a);
    free(b);
    return finish(&o);
}

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

int softmax_s8_case(softmax_fn variant, softmax_fn ref)
{
    cortexm_softmax_s8_t p;
    int32_t count;
    int8_t *in;
    outputs_t o;
    int equal;

    p.outer = between(1, 3);
    p.inner = one_in(2) ? 1 : between(2, 5);
    p.size = one_in(16) ? between(300, 2000) : length();
    p.multiplier = multiplier();
    p.shift = between(15, 24);
    p.diff_min = one_in(3) ? -255 : -between(0, 255);
    count = p.outer * p.inner * p.size;
    in = random_bytes(count);
    if (one_in(4)) {
        memset(in, between(0, 255), (size_t)count); /* equal codes: the largest sums */
    }
    o = outputs(count);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)count);
    variant(&p, o.data[0], o.data[0]);
    free(in);
    return finish(&o) && equal;
}

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

static cortexm_quantize_t quantize_params(int32_t low, int32_t high)
{
    cortexm_quantize_t p;

    p.count = length();
    p.inv_scale = one_in(2) ? 1.0f : scale();
    p.zero_point = (int16_t)(one_in(3) ? (one_in(2) ? low : high) : between(low, high));
    p.qmin = (int16_t)(one_in(3) ? between(low, high) : low);
    p.qmax = (int16_t)(one_in(3) ? between(p.qmin, high) : high);
    return p;
}

int quantize_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref)
{
    const cortexm_quantize_t p = quantize_params(INT8_MIN, INT8_MAX);
    float *in = random_floats(p.count);
    outputs_t o = outputs(p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int quantize_f32s16_case(quantize_s16_fn variant, quantize_s16_fn ref)
{
    const cortexm_quantize_t p = quantize_params(INT16_MIN, INT16_MAX);
    float *in = random_floats(p.count);
    outputs_t o = outputs(2 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int dequantize_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref)
{
    const cortexm_dequantize_t p = {length(), scale(), (int16_t)code()};
    int8_t *in = random_bytes(p.count);
    outputs_t o = outputs(4 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int quantize_normal_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref)
{
    int equal;

    only_normal_scales = 1;
    equal = quantize_f32s8_case(variant, ref);
    only_normal_scales = 0;
    return equal;
}

int dequantize_normal_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref)
{
    int equal;

    only_normal_scales = 1;
    equal = dequantize_s8f32_case(variant, ref);
    only_normal_scales = 0;
    return equal;
}

int dequantize_s16f32_case(dequantize_s16_fn variant, dequantize_s16_fn ref)
{
    const cortexm_dequantize_t p = {length(), scale(),
                                    (int16_t)between(INT16_MIN, INT16_MAX)};
    int16_t *in = random_bytes(2 * p.count);
    outputs_t o = outputs(4 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}
