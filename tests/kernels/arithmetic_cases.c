/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "cases.h"
#include "floats.h"
#include "harness.h"
#include "pack.h"

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

/* The larger operand of a sum is halved: of most sums that are quantized one, and of some both. */
static void half_an_operand(int32_t *a_multiplier, int8_t *a_shift, int32_t *b_multiplier,
                            int8_t *b_shift)
{
    if (one_in(2)) {
        *a_multiplier = *a_multiplier < 0 ? -(1 << 30) : 1 << 30;
        *a_shift = 0;
    }
    if (one_in(3)) {
        *b_multiplier = *b_multiplier < 0 ? -(1 << 30) : 1 << 30;
        *b_shift = 0;
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
    p.a_multiplier = one_in(4) ? -multiplier() : multiplier();
    p.b_multiplier = one_in(4) ? -multiplier() : multiplier();
    p.out_multiplier = multiplier();
    p.a_shift = (int8_t)(one_in(8) ? between(-31, 3) : between(-4, 0));
    p.b_shift = (int8_t)(one_in(8) ? between(-31, 3) : between(-4, 0));
    p.out_shift = (int8_t)shift(28);
    if (shifts_right) {
        p.a_shift = (int8_t)(p.a_shift > 0 ? 0 : p.a_shift);
        p.b_shift = (int8_t)(p.b_shift > 0 ? 0 : p.b_shift);
        p.out_shift = (int8_t)(p.out_shift >= 0 ? -1 - p.out_shift : p.out_shift);
    }
    half_an_operand(&p.a_multiplier, &p.a_shift, &p.b_multiplier, &p.b_shift);
    p.a_zero_point = (int16_t)code();
    p.b_zero_point = (int16_t)code();
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    check_inside(&p);
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

int any_add_affine_case(add_affine_fn variant, add_affine_fn ref, int fine)
{
    cortexm_add_affine_t p;
    int8_t *a;
    int8_t *b;
    outputs_t o;
    int equal;

    periods(&p.count, &p.a_period, &p.b_period);
    if (fine) { /* no operand repeats */
        p.a_period = p.b_period = p.count;
    }
    /* From sums that are all codes to such as are hardly ever. */
    p.a_factor = between(-(1 << 22), 1 << 22);
    p.b_factor = one_in(2) ? p.a_factor : between(-(1 << 22), 1 << 22);
    if (one_in(4)) {
        p.a_factor = one_in(2) ? 1 - (1 << 23) : (1 << 23) - 1;
        p.b_factor /= 2;
    }
    p.constant = between(-(1 << 29), 1 << 29);
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    check_inside(&p);
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

int any_mul_case(mul_fn variant, mul_fn ref, int shifts_right)
{
    cortexm_mul_s8_t p;
    int8_t *a;
    int8_t *b;
    outputs_t o;
    int equal;

    periods(&p.count, &p.a_period, &p.b_period);
    p.multiplier = multiplier();
    p.shift = (int8_t)shift(14);
    if (shifts_right) {
        p.shift = right(p.shift, 1);
        p.shift = (int8_t)(p.shift < -22 ? -22 : p.shift);
    }
    /* Not all zero points are codes. */
    p.a_zero_point = (int16_t)(one_in(4) ? between(-400, 400) : code());
    p.b_zero_point = (int16_t)(one_in(4) ? between(-400, 400) : code());
    p.out_zero_point = (int8_t)code();
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    check_inside(&p);
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

int any_add_s16_case(add_s16_fn variant, add_s16_fn ref, int shifts_right)
{
    cortexm_add_s16_t p;
    int16_t *a;
    int16_t *b;
    outputs_t o;
    int equal;

    periods(&p.count, &p.a_period, &p.b_period);
    p.a_multiplier = one_in(4) ? -multiplier() : multiplier();
    p.b_multiplier = one_in(4) ? -multiplier() : multiplier();
    p.out_multiplier = multiplier();
    p.a_shift = (int8_t)(one_in(8) ? between(-31, 3) : between(-4, 0));
    p.b_shift = (int8_t)(one_in(8) ? between(-31, 3) : between(-4, 0));
    p.out_shift = (int8_t)(one_in(8) ? between(-31, 30) : between(-17, -10));
    if (shifts_right) {
        p.b_multiplier = p.a_multiplier < 0 && p.b_multiplier < 0 ? -p.b_multiplier : p.b_multiplier;
        p.a_shift = p.a_shift < -30 ? -30 : right(p.a_shift, 0);
        p.b_shift = p.b_shift < -30 ? -30 : right(p.b_shift, 0);
        p.a_multiplier /= p.a_shift == 0 ? 2 : 1;
        p.b_multiplier /= p.b_shift == 0 ? 2 : 1;
        p.out_shift = right(p.out_shift, 1);
    }
    half_an_operand(&p.a_multiplier, &p.a_shift, &p.b_multiplier, &p.b_shift);
    clamp_range_s16(&p.act_min, &p.act_max);
    a = random_codes_s16(p.a_period);
    b = random_codes_s16(p.b_period);
    o = outputs(2 * p.count);
    check_inside(&p);
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    equal = agree(&o);
    if (p.a_period == p.count) { /* in place */
        memcpy(o.data[0], a, 2 * (size_t)p.count);
        variant(&p, o.data[0], b, o.data[0]);
    }
    free(a);
    free(b);
    return finish(&o) && equal;
}

int any_mul_s16_case(mul_s16_fn variant, mul_s16_fn ref, int shifts_right)
{
    cortexm_mul_s16_t p;
    int16_t *a;
    int16_t *b;
    outputs_t o;
    int32_t behind;
    int equal;

    periods(&p.count, &p.a_period, &p.b_period);
    p.stride = 0;
    if (one_in(3)) { /* rows apart */
        p.a_period = p.b_period = length() + 1;
        p.count = p.a_period * between(1, 5);
        p.stride = p.a_period + (one_in(3) ? 0 : length());
    }
    behind = (p.count / p.b_period - 1) * p.stride;
    p.multiplier = multiplier();
    p.shift = (int8_t)(one_in(8) ? between(-31, 30) : between(-18, -10));
    if (shifts_right) {
        p.shift = right(p.shift, 2);
    }
    a = random_codes_s16(behind + p.a_period);
    b = random_codes_s16(behind + p.b_period);
    o = outputs(2 * p.count);
    check_inside(&p);
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    equal = agree(&o);
    if (behind + p.b_period == p.count) { /* in place */
        memcpy(o.data[0], b, 2 * (size_t)p.count);
        variant(&p, a, o.data[0], o.data[0]);
    }
    free(a);
    free(b);
    return finish(&o) && equal;
}

int gate_s8_case(gate_fn variant, gate_fn ref)
{
    cortexm_gate_s8_t p;
    int8_t *a;
    int8_t *b;
    int8_t *table = random_bytes(256);
    outputs_t o;
    int equal;

    p.rows = between(1, 5);
    p.size = length();
    p.a_stride = p.size + (one_in(2) ? 0 : length());
    p.b_stride = one_in(2) ? p.a_stride : p.size + (one_in(2) ? 0 : length());
    p.multiplier = multiplier();
    p.shift = (int8_t)(one_in(4) ? between(-22, -1) : between(-12, -5));
    p.a_zero_point = (int16_t)(one_in(8) ? between(-16000, 16000) : between(INT8_MIN, INT8_MAX));
    p.b_zero_point = (int16_t)(one_in(8) ? between(-16000, 16000) : between(INT8_MIN, INT8_MAX));
    p.out_zero_point = (int8_t)between(INT8_MIN, INT8_MAX);
    a = random_bytes((p.rows - 1) * p.a_stride + p.size);
    b = random_bytes((p.rows - 1) * p.b_stride + p.size);
    o = outputs(p.rows * p.size);
    variant(&p, a, b, table, o.data[0]);
    ref(&p, a, b, table, o.data[1]);
    equal = agree(&o);
    if (p.b_stride == p.size) { /* in place */
        memcpy(o.data[0], b, (size_t)(p.rows * p.size));
        variant(&p, a, o.data[0], table, o.data[0]);
    } else if (p.a_stride == p.size) {
        memcpy(o.data[0], a, (size_t)(p.rows * p.size));
        variant(&p, o.data[0], b, table, o.data[0]);
    }
    free(a);
    free(b);
    free(table);
    return finish(&o) && equal;
}

int any_gate_s16_case(gate_s16_fn variant, gate_s16_fn ref, int is_smooth)
{
    cortexm_gate_s16_t p;
    int16_t *a;
    int16_t *b;
    int16_t *table;
    outputs_t o;
    int32_t count;
    int equal;

    p.rows = between(1, 5);
    p.size = length();
    p.a_stride = p.size + (one_in(2) ? 0 : length());
    p.b_stride = one_in(2) ? p.a_stride : p.size + (one_in(2) ? 0 : length());
    p.multiplier = multiplier();
    p.bits = between(4, 7);
    p.shift = (int8_t)(one_in(4) ? between(-31, -2) : between(-18, -10));
    count = p.rows * p.size;
    a = random_codes_s16((p.rows - 1) * p.a_stride + p.size);
    b = random_codes_s16((p.rows - 1) * p.b_stride + p.size);
    table = table_s16(p.bits, is_smooth);
    o = outputs(2 * count);
    variant(&p, a, b, table, o.data[0]);
    ref(&p, a, b, table, o.data[1]);
    equal = agree(&o);
    if (p.b_stride == p.size) { /* in place */
        memcpy(o.data[0], b, 2 * (size_t)count);
        variant(&p, a, o.data[0], table, o.data[0]);
    } else if (p.a_stride == p.size) {
        memcpy(o.data[0], a, 2 * (size_t)count);
        variant(&p, o.data[0], b, table, o.data[0]);
    }
    free(a);
    free(b);
    free(table);
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

int minmax_of_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const int32_t period = between(1, 20);
    cortexm_minmax_t p = {period * between(1, 4), 0, 0};

    p.a_period = between(0, 2) == 0 ? period : p.count;
    p.b_period = between(0, 2) == 0 ? 1 : p.count;
    {
        void *const a = elements(type, p.a_period, 1);
        void *const b = elements(type, p.b_period, 1);
        const outputs_t o = outputs(p.count * size_of(type));

        for (int i = 0; i < 2; ++i) {
            ((call4_t)both[i])(&p, a, b, o.data[i]);
        }
        free(a);
        free(b);
        return finish(&o);
    }
}

static cortexm_div_t div_params(int32_t low, int32_t high)
{
    cortexm_div_t p;

    p.count = length();
    do {
        p.scale = scale(0);
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

/* A box and two operands, each dense in some dimensions and repeating in the others. Returns the
 * number of results; `sizes` are the operands' elements. */
static int32_t random_box(cortexm_binary_t *p, int32_t sizes[2])
{
    int32_t count = 1;

    memset(p, 0, sizeof *p);
    p->rank = between(1, 4);
    sizes[0] = sizes[1] = 1;
    for (int32_t d = p->rank - 1; d >= 0; --d) {
        int32_t *const stride[2] = {p->a_stride, p->b_stride};

        p->dims[d] = between(1, d == p->rank - 1 && between(0, 1) ? 37 : 4);
        count *= p->dims[d];
        for (int k = 0; k < 2; ++k) {
            if (between(0, 2) != 0) {
                stride[k][d] = sizes[k];
                sizes[k] *= p->dims[d];
            }
        }
    }
    return count;
}

#define BINARY_CASE(name, function, type, fill_a, fill_b, finish_case)                             \
    int name##_case(function variant, function ref)                                                \
    {                                                                                              \
        cortexm_binary_t p;                                                                        \
        int32_t sizes[2];                                                                          \
        const int32_t count = random_box(&p, sizes);                                               \
        type *a = fill_a(sizes[0]);                                                                \
        type *b = fill_b(sizes[1]);                                                                \
        outputs_t o = outputs(count * (int32_t)sizeof *a);                                         \
                                                                                                   \
        variant(&p, a, b, o.data[0]);                                                              \
        ref(&p, a, b, o.data[1]);                                                                  \
        free(a);                                                                                   \
        free(b);                                                                                   \
        return finish_case(&o);                                                                    \
    }

#define FINISH_EXACT(o) finish_floats(o, EXACT)
#define FINISH_EQUAL(o) finish_floats(o, EQUAL)
#define FINISH_CLOSE(o) finish_floats(o, CLOSE)
#define INTEGERS_32(count) any_bytes((count) * (int32_t)sizeof(int32_t))
#define INTEGERS_64(count) any_bytes((count) * (int32_t)sizeof(int64_t))

BINARY_CASE(binary_f32, binary_f32_fn, float, any_reals, any_reals, FINISH_EXACT)
BINARY_CASE(divide_f32, binary_f32_fn, float, reals, reals, FINISH_EQUAL)
BINARY_CASE(binary_close_f32, binary_f32_fn, float, reals, reals, FINISH_CLOSE)
BINARY_CASE(binary_s32, binary_s32_fn, int32_t, INTEGERS_32, INTEGERS_32, finish)
BINARY_CASE(binary_s64, binary_s64_fn, int64_t, INTEGERS_64, INTEGERS_64, finish)

/* The lowest number, 1 and -1, small ones, or any. */
static int64_t whole(int64_t lowest)
{
    switch (between(0, 3)) {
    case 0:
        return lowest;
    case 1:
        return between(0, 1) ? 1 : -1;
    case 2:
        return between(-9, 9);
    default:
        return (int64_t)((uint64_t)random32() << 32 | random32()) % lowest;
    }
}

#define DIVIDE_CASE(name, type, lowest)                                                            \
    static type *wholes_##name(int32_t count)                                                      \
    {                                                                                              \
        type *values = allocate(count * (int32_t)sizeof *values);                                  \
                                                                                                   \
        for (int32_t i = 0; i < count; ++i) {                                                      \
            values[i] = (type)whole(lowest);                                                       \
        }                                                                                          \
        return values;                                                                             \
    }                                                                                              \
                                                                                                   \
    static type *divisors_##name(int32_t count)                                                    \
    {                                                                                              \
        type *values = wholes_##name(count);                                                       \
                                                                                                   \
        for (int32_t i = 0; i < count; ++i) {                                                      \
            values[i] = values[i] != 0 ? values[i] : 3;                                            \
        }                                                                                          \
        return values;                                                                             \
    }                                                                                              \
                                                                                                   \
    BINARY_CASE(divide_##name, binary_##name##_fn, type, wholes_##name, divisors_##name, finish)

DIVIDE_CASE(s32, int32_t, INT32_MIN)
DIVIDE_CASE(s64, int64_t, INT64_MIN)
