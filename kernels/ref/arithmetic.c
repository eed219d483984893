/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ref.h"

void cortexm_add_s8_ref(const cortexm_add_s8_t *p, const int8_t *a, const int8_t *b, int8_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        const int64_t x = (a[i % p->a_period] - p->a_zero_point) * ref_power_of_two(20);
        const int64_t y = (b[i % p->b_period] - p->b_zero_point) * ref_power_of_two(20);
        const int64_t sum = ref_requantize(x, p->a_multiplier, p->a_shift) +
                            ref_requantize(y, p->b_multiplier, p->b_shift);

        out[i] = (int8_t)ref_clamp(
            ref_requantize(sum, p->out_multiplier, p->out_shift) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}

#define ADD_AFFINE(op, n)                                                                          \
    void cortexm_##op##_s8_ref(const cortexm_add_affine_t *p, const int8_t *a, const int8_t *b,    \
                               int8_t *out)                                                        \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            const int64_t x = (int64_t)a[i % p->a_period] * p->a_factor;                           \
            const int64_t y = (int64_t)b[i % p->b_period] * p->b_factor;                           \
                                                                                                   \
            out[i] = (int8_t)ref_clamp((x + y + p->constant) >> n, INT8_MIN, INT8_MAX);            \
        }                                                                                          \
    }

ADD_AFFINE(add_affine, 21)
ADD_AFFINE(add_affine_fine, 22)

void cortexm_mul_s8_ref(const cortexm_mul_s8_t *p, const int8_t *a, const int8_t *b, int8_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        const int x = a[i % p->a_period] - p->a_zero_point;
        const int y = b[i % p->b_period] - p->b_zero_point;

        const int64_t code = ref_requantize(x * y, p->multiplier, p->shift) + p->out_zero_point;

        out[i] = (int8_t)ref_clamp(code, INT8_MIN, INT8_MAX);
    }
}

void cortexm_gate_s8_ref(const cortexm_gate_s8_t *p, const int8_t *a, const int8_t *b,
                         const int8_t *table, int8_t *out)
{
    for (int i = 0; i < p->rows * p->size; ++i) {
        const int row = i / p->size;
        const int column = i % p->size;
        const int x = a[row * p->a_stride + column] - p->a_zero_point;
        const int y = table[b[row * p->b_stride + column] + 128] - p->b_zero_point;
        const int64_t code = ref_requantize(x * y, p->multiplier, p->shift) + p->out_zero_point;

        out[i] = (int8_t)ref_clamp(code, INT8_MIN, INT8_MAX);
    }
}

void cortexm_gate_s16_ref(const cortexm_gate_s16_t *p, const int16_t *a, const int16_t *b,
                          const int16_t *table, int16_t *out)
{
    const int64_t width = ref_power_of_two(p->bits); /* codes from entry to entry */

    for (int i = 0; i < p->rows * p->size; ++i) {
        const int row = i / p->size;
        const int column = i % p->size;
        const int64_t position = b[row * p->b_stride + column] + 32768;
        const int16_t *const entry = table + position / width;
        const int64_t rise = (entry[1] - entry[0]) * (position % width);
        const int64_t y = entry[0] + ref_floor_div(rise + width / 2, width);
        const int64_t product = a[row * p->a_stride + column] * y;

        out[i] = (int16_t)ref_clamp(ref_requantize(product, p->multiplier, p->shift), INT16_MIN,
                                    INT16_MAX);
    }
}

void cortexm_add_s16_ref(const cortexm_add_s16_t *p, const int16_t *a, const int16_t *b,
                         int16_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        const int64_t x = a[i % p->a_period] * ref_power_of_two(15);
        const int64_t y = b[i % p->b_period] * ref_power_of_two(15);
        const int64_t sum = ref_requantize(x, p->a_multiplier, p->a_shift) +
                            ref_requantize(y, p->b_multiplier, p->b_shift);

        out[i] = (int16_t)ref_clamp(ref_requantize(sum, p->out_multiplier, p->out_shift),
                                    p->act_min, p->act_max);
    }
}

void cortexm_mul_s16_ref(const cortexm_mul_s16_t *p, const int16_t *a, const int16_t *b,
                         int16_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        const int x = a[i % p->a_period + i / p->a_period * p->stride];
        const int y = b[i % p->b_period + i / p->b_period * p->stride];
        const int64_t product = (int64_t)x * y;

        out[i] = (int16_t)ref_clamp(ref_requantize(product, p->multiplier, p->shift), INT16_MIN,
                                    INT16_MAX);
    }
}

/* rintf() rounds ties to even in the default rounding mode. */
#define DIV(types, type, low, high)                                                                \
    void cortexm_div_##types##_ref(const cortexm_div_t *p, const type *a, const type *b,           \
                                   type *out)                                                      \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            const float x = (float)(a[i] - p->a_zero_point);                                       \
            const float y = (float)(b[i] - p->b_zero_point);                                       \
            const float quotient = y != 0.0f ? x / y : 0.0f;                                       \
            const double code = (double)rintf(quotient * p->scale) + p->out_zero_point;            \
                                                                                                   \
            out[i] = (type)fmin(fmax(code, low), high);                                            \
        }                                                                                          \
    }

DIV(s8, int8_t, INT8_MIN, INT8_MAX)
DIV(s16, int16_t, INT16_MIN, INT16_MAX)

#define MINMAX(op, RELATION, types, type)                                                          \
    void cortexm_##op##_##types##_ref(const cortexm_minmax_t *p, const type *a, const type *b,     \
                                      type *out)                                                   \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            const type x = a[i % p->a_period];                                                     \
            const type y = b[i % p->b_period];                                                     \
                                                                                                   \
            out[i] = x RELATION y ? x : y;                                                         \
        }                                                                                          \
    }

MINMAX(minimum, <, s8, int8_t)
MINMAX(minimum, <, s16, int16_t)
MINMAX(minimum, <, u8, uint8_t)
MINMAX(maximum, >, s8, int8_t)
MINMAX(maximum, >, s16, int16_t)
MINMAX(maximum, >, u8, uint8_t)

/*
 * Functions of two operands a and b that broadcast. Of floats in double, rounded once: for a sum,
 * difference, product or quotient that is what the operation on floats gives. Of integers in 64
 * bits (-fwrapv), cut to the type; without a division by -1, which `/` and `%` do not have for the
 * lowest number.
 */
#define BINARY(op, VALUE, wide, types, type)                                                       \
    void cortexm_##op##_##types##_ref(const cortexm_binary_t *p, const type *a_data,               \
                                      const type *b_data, type *out)                               \
    {                                                                                              \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            const wide a = a_data[box_offset(i, p->rank, p->dims, p->a_stride)];                   \
            const wide b = b_data[box_offset(i, p->rank, p->dims, p->b_stride)];                   \
                                                                                                   \
            out[i] = (type)(VALUE);                                                                \
        }                                                                                          \
    }

#define FLOATS(op, VALUE) BINARY(op, VALUE, double, f32, float)
#define INTEGERS(op, VALUE)                                                                        \
    BINARY(op, VALUE, int64_t, s32, int32_t)                                                       \
    BINARY(op, VALUE, int64_t, s64, int64_t)

FLOATS(minimum, isnan(a) || isnan(b) ? a + b : a < b ? a : b)
FLOATS(maximum, isnan(a) || isnan(b) ? a + b : a > b ? a : b)
FLOATS(add, a + b)
FLOATS(sub, a - b)
FLOATS(mul, a * b)
FLOATS(div, a / b)
FLOATS(fmod, fmod(a, b))
/* The remainder with the sign of the divisor. */
FLOATS(remainder, fmod(a, b) * b < 0.0 ? fmod(a, b) + b : fmod(a, b))
/* A quotient of floats that are not far apart is no integer in double unless it is one. */
FLOATS(floor_divide, floor(a / b))
FLOATS(trunc_divide, trunc((float)(a / b)))
FLOATS(pow, pow(a, b))
FLOATS(atan2, atan2(a, b))

INTEGERS(minimum, a < b ? a : b)
INTEGERS(maximum, a > b ? a : b)
INTEGERS(add, a + b)
INTEGERS(sub, a - b)
INTEGERS(mul, a * b)
INTEGERS(fmod, b == -1 ? 0 : a % b)
INTEGERS(remainder, b == -1 ? 0 : a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b)
INTEGERS(floor_divide, b == -1 ? -a : a / b - (a % b != 0 && (a < 0) != (b < 0)))
INTEGERS(trunc_divide, b == -1 ? -a : a / b)
