/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step makes of its sums, cell by cell; kernels/README.md has the formulas. The header of an
 * instruction set (ISA.h) brings
 *   CORTEXM_SCALED(a, m)      floor(a * m / 2^16), m in [0, 2^15)
 *   CORTEXM_SATURATED(x, n)   x as a signed number of n bits
 *   CORTEXM_PARABOLA(v, w, f) v + ((w + c * f) >> 16) * f with the lower half c of w
 *
 * Sums come in blocks of four cells, the last one of those that are left: for each gate one of each
 * cell. So do multipliers.
 */
#ifndef CORTEXM_RECURRENT_CELLS_H
#define CORTEXM_RECURRENT_CELLS_H

#include "common/stamp.h"
#include "cortexm/params.h"
#include "cortexm/requantize.h"
#include "recurrent/tanh.h"

/* The shifts of sums; copies, as codes that are written might be those of the parameters. */
typedef struct {
    int32_t left, right;
} preactivation_t;

static inline preactivation_t preactivation_of(const cortexm_recurrent_t *p)
{
    const preactivation_t to = {p->gate_left, p->gate_right};

    return to;
}

/* A sum in units of 2^-16. Of int8 codes there is no shift to the right. */
static inline int32_t preactivation(const preactivation_t *to, int32_t sum, int32_t multiplier)
{
    const int32_t value = CORTEXM_SCALED((int32_t)((uint32_t)sum << to->left), multiplier);

#if CODE_BITS == 8
    return value;
#else
    return value >> to->right;
#endif
}

/* tanh in Q31, for the upper 16 bits. */
static inline int32_t tanh_of(int32_t x)
{
    const int32_t rest = CORTEXM_SATURATED(x, 20);
    const int32_t f = (int32_t)((uint32_t)rest << (32 - CORTEXM_PARABOLA_BITS)) >>
                      (32 - CORTEXM_PARABOLA_BITS);
    /* The distance is a multiple of 2^13, an entry has 2^3 bytes. */
    const char *const zero = (const char *)&cortexm_parabolas[CORTEXM_PARABOLA_ZERO];
    const void *const near = zero + ((rest - f) >> (CORTEXM_PARABOLA_BITS - 3));
    const cortexm_parabola_t *const at = near;

    return CORTEXM_PARABOLA(at->value, at->word, f);
}

/* Sigmoid of twice the argument in Q15, from the tanh. */
static inline int32_t sigmoid_of(int32_t x)
{
    return ((tanh_of(x) >> 1) + (INT32_C(1) << 30)) >> 16;
}

/* What codes of h begin with: half a unit and the zero point. */
static inline int32_t cortexm_out_start(const cortexm_recurrent_t *p)
{
    return (int32_t)((UINT32_C(1) << (p->out_shift - 1)) +
                     ((uint32_t)p->out_zero_point << p->out_shift));
}

/* Sums and multipliers of a block of n < 4 cells, at the distances of four. */
typedef struct {
    int32_t sum[16];
    int16_t m[16];
} last_t;

static inline void spread(last_t *last, int32_t gates, const int32_t *sum, const int16_t *m, int32_t n)
{
    for (int32_t i = 0; i < gates * n; ++i) {
        last->sum[i / n * 4 + i % n] = sum[i];
        last->m[i / n * 4 + i % n] = m[i];
    }
}

static inline void lstm_cells(const cortexm_recurrent_t *p, const int32_t *sum, int16_t *c, ROW *h,
                              ELEMENT *y)
{
    const int16_t *m = p->gates;
    const preactivation_t to = preactivation_of(p);
    const int32_t start = cortexm_out_start(p);
    const int32_t multiplier = p->out_multiplier;
    const int32_t shift = p->out_shift;
    const int32_t state_right = 15 - p->state_bits;
    const int32_t state_left = 16 - p->state_bits;
    last_t last;

    for (int32_t left = p->hidden; left > 0; left -= 4) {
        const int16_t *const end = c + cortexm_min(left, 4);

        if (left < 4) {
            spread(&last, 4, sum, m, left);
            sum = last.sum;
            m = last.m;
        }
        do {
            const int32_t in = sigmoid_of(preactivation(&to, sum[0], m[0]));
            const int32_t change = tanh_of(preactivation(&to, sum[8], m[8])) >> 16;
            const int32_t forget = sigmoid_of(preactivation(&to, sum[4], m[4]));
            const int32_t kept = forget * *c + ((in * change) >> state_right) + (1 << 14);
            const int32_t state = CORTEXM_SATURATED(kept >> 15, 16);
            const int32_t shown = tanh_of((int32_t)((uint32_t)state << state_left)) >> 16;
            const int32_t out = sigmoid_of(preactivation(&to, sum[12], m[12])) * shown;
            const int32_t code = (CORTEXM_SCALED(out, multiplier) + start) >> shift;

            *c++ = (int16_t)state;
            *h++ = *y++ = (ELEMENT)CORTEXM_SATURATED(code, CODE_BITS);
            ++sum;
            ++m;
        } while (c != end);
        sum += 12;
        m += 12;
    }
}

/* The code of a state. */
static inline ELEMENT cortexm_state_code(const cortexm_recurrent_t *p, int32_t state, int32_t start)
{
    return (ELEMENT)CORTEXM_SATURATED((state * p->out_multiplier + start) >> p->out_shift, CODE_BITS);
}

/* both: sums of r and z; of_x, of_h: the parts of n. */
static inline void gru_cells(const cortexm_recurrent_t *p, const int32_t *both, const int32_t *of_x,
                             const int32_t *of_h, int16_t *state, ROW *h, ELEMENT *y)
{
    const int16_t *m = p->gates;
    const int16_t *m_x = m + 2 * p->hidden;
    const int16_t *m_h = m_x + p->hidden;
    const preactivation_t to = preactivation_of(p);
    const int32_t start = cortexm_out_start(p);
    const int32_t multiplier = p->out_multiplier;
    const int32_t shift = p->out_shift;
    const int32_t state_right = 31 - p->state_bits;
    last_t last;

    for (int32_t left = p->hidden; left > 0; left -= 4) {
        const int16_t *const end = state + cortexm_min(left, 4);

        if (left < 4) {
            spread(&last, 2, both, m, left);
            both = last.sum;
            m = last.m;
        }
        do {
            const int32_t reset = sigmoid_of(preactivation(&to, both[0], m[0]));
            const int32_t part = preactivation(&to, *of_h++, *m_h++);
            const int32_t rest = preactivation(&to, *of_x++, *m_x++);
            const int32_t fresh = tanh_of(rest + 2 * CORTEXM_SCALED(part, reset)) >> state_right;
            const int32_t keep = sigmoid_of(preactivation(&to, both[4], m[4]));
            const int32_t next = fresh + ((keep * (*state - fresh) + (1 << 14)) >> 15);
            const int32_t code = (next * multiplier + start) >> shift;

            *state++ = (int16_t)next;
            *h++ = *y++ = (ELEMENT)CORTEXM_SATURATED(code, CODE_BITS);
            ++both;
            ++m;
        } while (state != end);
        both += 4;
        m += 4;
    }
}

static inline void rnn_cells(const cortexm_recurrent_t *p, const int32_t *sum, ROW *h, ELEMENT *y)
{
    const int16_t *m = p->gates;
    const preactivation_t to = preactivation_of(p);
    const int32_t start = cortexm_out_start(p);
    const int32_t is_relu = p->is_relu;

    for (int32_t left = p->hidden; left > 0; --left) {
        const int32_t x = preactivation(&to, *sum++, *m++);
        const int32_t value = is_relu ? cortexm_max(CORTEXM_SATURATED(x, 20), 0) >> 4
                                      : tanh_of(x) >> 16;

        *h++ = *y++ = cortexm_state_code(p, value, start);
    }
}

#endif
