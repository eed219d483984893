/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ref.h"

CORTEXM_GROUP_NORM_F32(cortexm_group_norm_f32_ref)
{
    const cortexm_group_norm_f32_t *p = params;
    const int size = p->channels * p->pixels;

    for (int i = 0; i < p->batches * p->groups; ++i) {
        const int first = i % p->groups * p->channels;
        const float *x = in + i / p->groups * p->in_batch_stride + first * p->in_channel_stride;
        float *y = out + i / p->groups * p->out_batch_stride + first * p->out_channel_stride;
        float mean = 0.0f;
        float variance = 0.0f;

        for (int k = 0; k < size; ++k) {
            mean += x[k / p->pixels * p->in_channel_stride + k % p->pixels * p->in_pixel_stride];
        }
        mean /= (float)size;
        for (int k = 0; k < size; ++k) {
            const float d =
                x[k / p->pixels * p->in_channel_stride + k % p->pixels * p->in_pixel_stride] - mean;

            variance += d * d;
        }
        variance /= (float)size;
        for (int k = 0; k < size; ++k) {
            const int c = k / p->pixels;

            y[c * p->out_channel_stride + k % p->pixels * p->out_pixel_stride] =
                (x[c * p->in_channel_stride + k % p->pixels * p->in_pixel_stride] - mean) *
                    (1.0f / sqrtf(variance + p->epsilon)) * weight[first + c] +
                bias[first + c];
        }
    }
}

/* floor(a * b / 2^32) */
static int64_t high(int64_t a, int64_t b)
{
    return ref_floor_div(a * b, ref_power_of_two(32));
}

/* 1 / sqrt(m / 2^32) in Q30 */
static int64_t inverse_root(int64_t m)
{
    int64_t y = 2290065825 - high(m, 1308601373);

    for (int i = 0; i < 3; ++i) {
        y = y * (3 * ref_power_of_two(28) - high(m, high(y, y))) / ref_power_of_two(29);
    }
    return y;
}

/* The row's size has `bits` bits, and power / 2^finer is below 2^(2 * half). */
static int64_t normalized(const cortexm_group_norm_t *p, int64_t x, int64_t sum, uint64_t power,
                          int finer)
{
    int half = 32 - finer / 2;
    int raise;
    int64_t start;

    while (power < (UINT64_C(1) << 62)) {
        power *= 4;
        --half;
    }
    raise = p->bits + 29 - (p->bits + 1) / 2 - half;
    if (raise > 31) {
        return 0;
    }
    start = p->centred ? ref_floor_div(sum * p->inverse, ref_power_of_two(30 + p->bits - raise))
                       : p->zero_point * ref_power_of_two(raise);
    return high(ref_wrap32(x * ref_power_of_two(raise) - start),
                high(inverse_root((int64_t)(power >> 32)), p->mantissa));
}

#define GROUP_NORM(types, type, low, most)                                                         \
    CORTEXM_GROUP_NORM(cortexm_group_norm_##types##_ref, type)                                     \
    {                                                                                              \
        const cortexm_group_norm_t *p = params;                                                    \
                                                                                                   \
        for (int i = 0; i < p->batches * p->groups; ++i) {                                         \
            const int batch = i / p->groups, group = i % p->groups;                                \
            const type *x = in + batch * p->in_batch_stride + group * p->in_group_stride;          \
            type *y = out + batch * p->out_batch_stride + group * p->out_group_stride;             \
            const int finer = 62 - 2 * p->bits - (sizeof *in == 1 ? 16 : 30);                      \
            int64_t sum = 0, squares = 0, power;                                                   \
                                                                                                   \
            for (int k = 0; k < p->size; ++k) {                                                    \
                const int64_t code = x[k / p->inner * p->in_outer_stride +                         \
                                       k % p->inner * p->in_inner_stride] -                        \
                                     (p->centred ? 0 : p->zero_point);                             \
                                                                                                   \
                sum += code;                                                                       \
                squares += code * code;                                                            \
            }                                                                                      \
            power = (p->size * squares - (p->centred ? sum * sum : 0)) * ref_power_of_two(finer) + \
                    p->epsilon_high * ref_power_of_two(32) + p->epsilon_low;                       \
            for (int k = 0; k < p->size; ++k) {                                                    \
                const int o = k / p->inner, n = k % p->inner;                                      \
                const int at = group * p->factor_group_stride + o * p->factor_outer_stride +       \
                               n * p->factor_inner_stride;                                         \
                const int64_t t = normalized(                                                      \
                    p, x[o * p->in_outer_stride + n * p->in_inner_stride], sum, (uint64_t)power,   \
                    finer);                                                                        \
                const int64_t code = ref_floor_div(high(t, factor[at]) + offset[at],               \
                                                   ref_power_of_two(p->shift));                    \
                                                                                                   \
                y[o * p->out_outer_stride + n * p->out_inner_stride] =                             \
                    (type)ref_clamp(code, low, most);                                              \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    CORTEXM_GROUP_NORM(cortexm_group_norm_rows_##types##_ref, type)                                \
    {                                                                                              \
        cortexm_group_norm_##types##_ref(params, in, factor, offset, out);                         \
    }

GROUP_NORM(s8, int8_t, INT8_MIN, INT8_MAX)
GROUP_NORM(s16, int16_t, INT16_MIN, INT16_MAX)
