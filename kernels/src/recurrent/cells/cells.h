/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step makes of its sums, cell by cell; kernels/README.md has the formulas. A header for each
 * instruction set (cells/ISA.h) brings
 *   CORTEXM_SCALED(a, m)      floor(a * m / 2^16), m in [0, 2^15)
 *   CORTEXM_SATURATED(x, n)   x as a signed number of n bits
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

/* A sum in units of 2^-16. Of int8 codes gate_right is 0. */
static inline int32_t preactivation(const cortexm_recurrent_t *p, int32_t sum, int32_t multiplier)
{
    const int32_t value = CORTEXM_SCALED((int32_t)((uint32_t)sum << p->gate_left), multiplier);

#if CODE_BITS == 8
    return value;
#else
    return value >> p->gate_right;
#endif
}

/* tanh in Q31, for the upper 16 bits. */
static inline int32_t tanh_of(int32_t x)
{
    const int32_t rest = CORTEXM_SATURATED(x, 20);
    const int32_t f = (int32_t)((uint32_t)rest << (32 - CORTEXM_PARABOLA_BITS)) >>
                      (32 - CORTEXM_PARABOLA_BITS);
    const cortexm_parabola_t *const at =
        cortexm_parabolas + CORTEXM_PARABOLA_ZERO + ((rest - f) >> CORTEXM_PARABOLA_BITS);
    const uint32_t word = at->word;
    const int32_t slope = (int32_t)(word + (uint32_t)((int16_t)word * (int16_t)f));

    return at->value + (int16_t)(slope >> 16) * (int16_t)f;
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

static inline void lstm_cells(const cortexm_recurrent_t *p, const int32_t *sum, int16_t *c, ROW *h,
                              ELEMENT *y)
{
    const int16_t *m = p->gates;
    const int32_t start = cortexm_out_start(p);
    const int32_t state_right = 15 - p->state_bits;
    const int32_t state_left = 16 - p->state_bits;

    for (int32_t left = p->hidden; left > 0; left -= 4) {
        const int32_t n = cortexm_min(left, 4);

        for (int32_t i = 0; i < n; ++i) {
            const int32_t in = sigmoid_of(preactivation(p, sum[0], m[0]));
            const int32_t forget = sigmoid_of(preactivation(p, sum[n], m[n]));
            const int32_t change = tanh_of(preactivation(p, sum[2 * n], m[2 * n])) >> 16;
            const int32_t out = sigmoid_of(preactivation(p, sum[3 * n], m[3 * n]));
            const int32_t kept = forget * *c + ((in * change) >> state_right) + (1 << 14);
            const int32_t state = CORTEXM_SATURATED(kept >> 15, 16);
            const int32_t shown = tanh_of((int32_t)((uint32_t)state << state_left)) >> 16;
            const int32_t code = (CORTEXM_SCALED(out * shown, p->out_multiplier) + start) >> p->out_shift;

            *c++ = (int16_t)state;
            *h++ = *y++ = (ELEMENT)CORTEXM_SATURATED(code, CODE_BITS);
            ++sum;
            ++m;
        }
        sum += 3 * n;
        m += 3 * n;
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
    const int32_t start = cortexm_out_start(p);

    for (int32_t left = p->hidden; left > 0; left -= 4) {
        const int32_t n = cortexm_min(left, 4);

        for (int32_t i = 0; i < n; ++i) {
            const int32_t reset = sigmoid_of(preactivation(p, both[0], m[0]));
            const int32_t keep = sigmoid_of(preactivation(p, both[n], m[n]));
            const int32_t part = preactivation(p, *of_h++, *m_h++);
            const int32_t rest = preactivation(p, *of_x++, *m_x++);
            const int32_t fresh =
                tanh_of(rest + 2 * CORTEXM_SCALED(part, reset)) >> (31 - p->state_bits);
            const int32_t next = fresh + ((keep * (*state - fresh) + (1 << 14)) >> 15);

            *state++ = (int16_t)next;
            *h++ = *y++ = cortexm_state_code(p, next, start);
            ++both;
            ++m;
        }
        both += n;
        m += n;
    }
}

static inline void rnn_cells(const cortexm_recurrent_t *p, const int32_t *sum, ROW *h, ELEMENT *y)
{
    const int32_t start = cortexm_out_start(p);

    for (int32_t i = 0; i < p->hidden; ++i) {
        const int32_t x = preactivation(p, sum[i], p->gates[i]);
        const int32_t value = p->is_relu ? cortexm_max(CORTEXM_SATURATED(x, 20), 0) >> 4
                                         : tanh_of(x) >> 16;

        *h++ = *y++ = cortexm_state_code(p, value, start);
    }
}

#endif
