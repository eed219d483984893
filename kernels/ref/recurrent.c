/* SPDX-License-Identifier: Apache-2.0 */
/* One sum after another, from weights and tables in blocks of four cells. tanh is computed in double, and
 * the parabolas that docs/numerics.md defines are made anew for each. */
#include <math.h>
#include <stdlib.h>

#include "ref.h"

/* The place of a row in blocks of four cells. */
static int row_of(int gate, int gates, int cell, int hidden)
{
    const int block = cell / 4 * 4;
    const int cells = hidden - block < 4 ? hidden - block : 4;

    return gates * block + gate * cells + cell - block;
}

/* The nearest whole number, ties to even. */
static int64_t whole(double x)
{
    return (int64_t)nearbyint(x);
}

typedef struct {
    int64_t value, slope, curvature;
} parabola_t;

static int64_t at_distance(const parabola_t *p, int64_t f)
{
    const int64_t word = p->slope * 65536 + (p->curvature & 0xffff) + p->curvature * f;

    return p->value + ref_floor_div(word, 65536) * f;
}

/* Around the multiple `n` of 1/8. */
static parabola_t parabola(int n)
{
    const double node = 4096.0 * cos(3.14159265358979323846 / 6.0);
    const double middle = 2147483648.0 * tanh(n / 8.0);
    const double low = 2147483648.0 * tanh((n * 8192.0 - node) / 65536.0);
    const double high = 2147483648.0 * tanh((n * 8192.0 + node) / 65536.0);
    parabola_t p = {whole(middle) + 32768, whole((high - low) / (2.0 * node)),
                    whole((high + low - 2.0 * middle) / (2.0 * node * node) * 65536.0)};
    int64_t excess = 0;

    for (int64_t f = -4096; f < 4096; ++f) {
        const int64_t over = at_distance(&p, f) - INT32_MAX;

        excess = over > excess ? over : excess;
    }
    p.value -= excess;
    return p;
}

/* In Q15. */
static int64_t ref_tanh(int64_t x)
{
    static parabola_t table[129];
    static int made;
    const int64_t limited = ref_clamp(x, -524288, 524287);
    const int64_t n = ref_floor_div(limited + 4096, 8192);

    for (; made < 129; ++made) {
        table[made] = parabola(made - 64);
    }
    return ref_floor_div(at_distance(&table[n + 64], limited - 8192 * n), 65536);
}

static int64_t ref_sigmoid(int64_t x)
{
    return ref_floor_div(ref_tanh(x) + 32768, 2);
}

static int64_t preactivation(const cortexm_recurrent_t *p, int64_t sum, int row)
{
    return ref_floor_div(sum * p->gates[row] * ref_power_of_two(p->gate_left),
                         ref_power_of_two(16 + p->gate_right));
}

/* value / 2^out_shift to the nearest code, ties up */
static int64_t code_of(const cortexm_recurrent_t *p, int64_t value, int bits)
{
    const int64_t code = ref_floor_div(value + ref_power_of_two(p->out_shift - 1),
                                       ref_power_of_two(p->out_shift));

    return ref_clamp(code + p->out_zero_point, -ref_power_of_two(bits - 1),
                     ref_power_of_two(bits - 1) - 1);
}

#define RECURRENT(types, type)                                                                     \
    static int64_t products_##types(const type *codes, const int8_t *weight, int n)                \
    {                                                                                              \
        int64_t sum = 0;                                                                           \
                                                                                                   \
        for (int k = 0; k < n; ++k) {                                                              \
            sum += codes[k] * weight[k];                                                           \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
                                                                                                   \
    /* Products with rows of h and x, or with rows of both. */                                     \
    static int64_t both_##types(const cortexm_recurrent_t *p, const type *h, const type *x,        \
                                const int8_t *weight, int row)                                     \
    {                                                                                              \
        const int n = p->hidden, inputs = p->inputs;                                               \
                                                                                                   \
        if (p->x_weight == NULL) {                                                                 \
            weight += row * (n + inputs);                                                          \
            return products_##types(h, weight, n) + products_##types(x, weight + n, inputs);       \
        }                                                                                          \
        return ref_floor_div(products_##types(h, weight + row * n, n),                             \
                             ref_power_of_two(p->h_shift)) +                                       \
               products_##types(x, p->x_weight + row * inputs, inputs);                            \
    }                                                                                              \
                                                                                                   \
    void cortexm_lstm_##types##_ref(const cortexm_recurrent_t *p, const type *x, const type *h,    \
                                    const int16_t *c, const int8_t *weight, const int32_t *bias,   \
                                    type *h_after, int16_t *c_after, type *y, void *scratch)       \
    {                                                                                              \
        const int n = p->hidden;                                                                   \
        type *const now = malloc((size_t)n * sizeof *now);                                         \
                                                                                                   \
        (void)scratch;                                                                             \
        for (int b = 0; b < p->batches; ++b) {                                                     \
            for (int k = 0; k < n; ++k) {                                                          \
                h_after[b * n + k] = h[b * n + k];                                                 \
                c_after[b * n + k] = c[b * n + k];                                                 \
            }                                                                                      \
            for (int t = 0; t < p->steps; ++t) {                                                   \
                const type *const in = x + p->x_start + b * p->x_batch + t * p->x_step;            \
                                                                                                   \
                for (int k = 0; k < n; ++k) {                                                      \
                    int64_t gate[4];                                                               \
                    int64_t state;                                                                 \
                                                                                                   \
                    for (int g = 0; g < 4; ++g) {                                                  \
                        const int row = row_of(g, 4, k, n);                                        \
                        const int64_t sum =                                                        \
                            bias[row] + both_##types(p, h_after + b * n, in, weight, row);         \
                        const int64_t value = preactivation(p, sum, row);                          \
                                                                                                   \
                        gate[g] = g == 2 ? ref_tanh(value) : ref_sigmoid(value);                   \
                    }                                                                              \
                    state = ref_floor_div(gate[0] * gate[2],                                       \
                                          ref_power_of_two(15 - p->state_bits));                   \
                    state = ref_floor_div(gate[1] * c_after[b * n + k] + state + 16384, 32768);    \
                    state = ref_clamp(state, INT16_MIN, INT16_MAX);                                \
                    c_after[b * n + k] = (int16_t)state;                                           \
                    state = ref_tanh(state * ref_power_of_two(16 - p->state_bits));                \
                    now[k] = (type)code_of(                                                        \
                        p, ref_floor_div(gate[3] * state * p->out_multiplier, 65536),              \
                        8 * (int)sizeof(type));                                                    \
                }                                                                                  \
                for (int k = 0; k < n; ++k) {                                                      \
                    h_after[b * n + k] = now[k];                                                   \
                    y[p->y_start + b * p->y_batch + t * p->y_step + k] = now[k];                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        free(now);                                                                                 \
    }                                                                                              \
                                                                                                   \
    void cortexm_gru_##types##_ref(const cortexm_recurrent_t *p, const type *x, const int16_t *h,  \
                                   const int8_t *weight, const int8_t *x_weight,                   \
                                   const int8_t *h_weight, const int32_t *bias,                    \
                                   int16_t *h_after, type *y, void *scratch)                       \
    {                                                                                              \
        const int n = p->hidden;                                                                   \
        type *const now = malloc((size_t)n * sizeof *now);                                         \
                                                                                                   \
        (void)scratch;                                                                             \
        for (int b = 0; b < p->batches; ++b) {                                                     \
            int16_t *const state = h_after + b * n;                                                \
                                                                                                   \
            for (int k = 0; k < n; ++k) {                                                          \
                state[k] = h[b * n + k];                                                           \
            }                                                                                      \
            for (int t = 0; t < p->steps; ++t) {                                                   \
                const type *const in = x + p->x_start + b * p->x_batch + t * p->x_step;            \
                                                                                                   \
                for (int k = 0; k < n; ++k) {                                                      \
                    now[k] = (type)code_of(p, (int64_t)state[k] * p->out_multiplier,               \
                                           8 * (int)sizeof(type));                                 \
                }                                                                                  \
                for (int k = 0; k < n; ++k) {                                                      \
                    int64_t gate[2], of_x, of_h, fresh;                                            \
                                                                                                   \
                    for (int g = 0; g < 2; ++g) {                                                  \
                        const int row = row_of(g, 2, k, n);                                        \
                        const int64_t sum = bias[row] + both_##types(p, now, in, weight, row);     \
                                                                                                   \
                        gate[g] = ref_sigmoid(preactivation(p, sum, row));                         \
                    }                                                                              \
                    of_x = bias[2 * n + k] +                                                       \
                           products_##types(in, x_weight + k * p->inputs, p->inputs);              \
                    of_h = bias[3 * n + k] + products_##types(now, h_weight + k * n, n);           \
                    of_x = preactivation(p, of_x, 2 * n + k);                                      \
                    of_h = preactivation(p, of_h, 3 * n + k);                                      \
                    fresh = ref_tanh(of_x + 2 * ref_floor_div(of_h * gate[0], 65536));             \
                    fresh = ref_floor_div(fresh, ref_power_of_two(15 - p->state_bits));            \
                    state[k] = (int16_t)(fresh + ref_floor_div(gate[1] * (state[k] - fresh) +      \
                                                                   16384, 32768));                 \
                }                                                                                  \
                for (int k = 0; y != NULL && k < n; ++k) {                                         \
                    y[p->y_start + b * p->y_batch + t * p->y_step + k] = (type)code_of(            \
                        p, (int64_t)state[k] * p->out_multiplier, 8 * (int)sizeof(type));          \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        free(now);                                                                                 \
    }                                                                                              \
                                                                                                   \
    void cortexm_rnn_##types##_ref(const cortexm_recurrent_t *p, const type *x, const type *h,     \
                                   const int8_t *weight, const int32_t *bias, type *h_after,       \
                                   type *y, void *scratch)                                         \
    {                                                                                              \
        const int n = p->hidden;                                                                   \
        type *const now = malloc((size_t)n * sizeof *now);                                         \
                                                                                                   \
        (void)scratch;                                                                             \
        for (int b = 0; b < p->batches; ++b) {                                                     \
            for (int k = 0; k < n; ++k) {                                                          \
                h_after[b * n + k] = h[b * n + k];                                                 \
            }                                                                                      \
            for (int t = 0; t < p->steps; ++t) {                                                   \
                const type *const in = x + p->x_start + b * p->x_batch + t * p->x_step;            \
                                                                                                   \
                for (int k = 0; k < n; ++k) {                                                      \
                    const int64_t sum =                                                            \
                        bias[k] + both_##types(p, h_after + b * n, in, weight, k);                 \
                    const int64_t value = preactivation(p, sum, k);                                \
                    const int64_t shown =                                                          \
                        p->is_relu ? ref_clamp(value, 0, 524287) / 16 : ref_tanh(value);           \
                                                                                                   \
                    now[k] = (type)code_of(p, shown * p->out_multiplier, 8 * (int)sizeof(type));   \
                }                                                                                  \
                for (int k = 0; k < n; ++k) {                                                      \
                    h_after[b * n + k] = now[k];                                                   \
                    y[p->y_start + b * p->y_batch + t * p->y_step + k] = now[k];                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        free(now);                                                                                 \
    }

RECURRENT(s8, int8_t)
RECURRENT(s16, int16_t)

static int64_t in_16_bits(int64_t value)
{
    return ref_clamp(value, INT16_MIN, INT16_MAX);
}

CORTEXM_LSTM_INTERPOLATED(cortexm_lstm_interpolated_s8_ref)
{
    const cortexm_lstm_interpolated_t *const p = params;
    const int n = p->hidden, depth = p->inputs + n;

    for (int i = 0; i < p->batches * p->steps * n; ++i) {
        const int batch = i / (p->steps * n), step = i / n % p->steps, k = i % n;
        const int8_t *const from = x + batch * p->x_batch + step * p->x_step;
        int8_t *const to = y + batch * p->y_batch + step * p->y_step;
        const int8_t *const last = step == 0 ? h + batch * n : to - p->y_step;
        const int64_t cell = step == 0 ? c[batch * n + k] : c_after[batch * n + k];
        int64_t of[4], next;

        for (int g = 0; g < 4; ++g) {
            const int row = g * n + k;
            int64_t of_x = bias[2 * row] + products_s8(from, weight + row * depth, p->inputs);
            int64_t of_h = bias[2 * row + 1] + products_s8(last, weight + row * depth + p->inputs, n);

            of_x = in_16_bits(ref_requantize(of_x, p->x_multiplier[g], p->x_shift[g]));
            of_h = in_16_bits(ref_requantize(of_h, p->h_multiplier[g], p->h_shift[g]));
            of[g] = ref_between(table, 3 * in_16_bits(of_x + of_h), g == 2);
        }
        next = in_16_bits(ref_requantize(of[0] * of[2], p->fresh_multiplier, p->fresh_shift));
        next += in_16_bits(ref_round_div(of[1] * cell, 32768));
        next = ref_clamp(in_16_bits(next), -p->cell_limit, p->cell_limit);
        c_after[batch * n + k] = (int16_t)next;
        next = ref_floor_div(2 * next * p->cell_multiplier + ref_power_of_two(p->cell_shift),
                             2 * ref_power_of_two(p->cell_shift));
        next = ref_requantize(of[3] * ref_between(table, next, 1), p->out_multiplier, p->out_shift);
        to[k] = (int8_t)ref_clamp(next + p->out_zero_point, INT8_MIN, INT8_MAX);
        h_after[batch * n + k] = to[k];
    }
}

CORTEXM_SVDF(cortexm_svdf_s8_ref)
{
    const int rank = params->rank, memory = params->memory, filters = params->units * rank;

    for (int i = 0; i < params->batches * filters; ++i) {
        int64_t sum = start[i % filters];

        for (int k = 0; k < params->inputs; ++k) {
            sum += features[i % filters * params->inputs + k] * x[i / filters * params->inputs + k];
        }
        for (int m = 1; m < memory; ++m) {
            after[i * memory + m - 1] = before[i * memory + m];
        }
        sum = ref_requantize(sum, params->multiplier, params->shift);
        after[(i + 1) * memory - 1] = (int16_t)ref_clamp(sum, INT16_MIN, INT16_MAX);
    }
    for (int i = 0; i < params->batches * params->units; ++i) {
        const int unit = i % params->units;
        int64_t sum = bias[unit];

        for (int m = 0; m < rank * memory; ++m) {
            sum += after[i * rank * memory + m] * times[unit * rank * memory + m];
        }
        sum = ref_requantize(sum, params->out_multiplier, params->out_shift) + params->out_zero_point;
        y[i] = (int8_t)ref_clamp(sum, INT8_MIN, INT8_MAX);
    }
}
