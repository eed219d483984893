/* SPDX-License-Identifier: Apache-2.0 */
/* A step with MVE. Sums are of four outputs at a time, at last of single ones, with weights packed as
 * "gemm4" or "gemm4_wide" (common/gemm_mve.h, gemm_wide_mve.h), or the same of nibbles. Cells are four at a time: the same
 * functions as in cells.h, to the bit. The last ones, if they are no four, are computed in a block of
 * their own. */
#ifndef CORTEXM_RECURRENT_MVE_H
#define CORTEXM_RECURRENT_MVE_H

#if !defined(__ARM_FEATURE_MVE)
#error "mve kernels need MVE"
#endif

#include <arm_mve.h>
#include <string.h>

#include "common/stamp.h"
#include "cortexm/params.h"
#include "cortexm/requantize.h"
#include "recurrent/cells.h"

#if CODE_BITS == 8

#include "common/gemm_mve.h"

typedef int8_t ROW;
#define ROWS_APART 0

static inline void put_row(ROW *row, const int8_t *codes, int32_t n)
{
    cortexm_copy_mve(row, codes, n);
}

#else

#include "common/gemm_wide_mve.h"

typedef int16_t ROW;
#define ROWS_APART 0

static inline void put_row(ROW *row, const int16_t *codes, int32_t n)
{
    memcpy(row, codes, (uint32_t)n * sizeof *row);
}

#endif

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights; `sum` may be `bias`. */
static CORTEXM_APART void add_products(const ROW *row, int32_t n, const int8_t *weight,
                                       const int32_t *bias, int32_t outputs, int32_t *sum)
{
    const cortexm_depth_t depth = cortexm_depth_of(n);
    int32_t o = 0;

    for (; o + 4 <= outputs; o += 4) {
        const int32x4_t four = cortexm_dot_4x1_mve(row, &weight, depth);

        vstrwq_s32(sum + o, vaddq_s32(four, vldrwq_s32(bias + o)));
    }
    for (; o < outputs; ++o) {
        sum[o] = bias[o] + cortexm_dot_mve(row, weight, n);
        weight += cortexm_row_bytes(n);
    }
}

/* floor(a * m / 2^16), m in [0, 2^15) */
static inline int32x4_t scaled(int32x4_t a, int32x4_t m)
{
    return vmulhq_s32(a, vshlq_n_s32(m, 16));
}

/* Four sums in units of 2^-16. */
static inline int32x4_t preactivation(const cortexm_recurrent_t *p, const int32_t *sum,
                                      const int16_t *multiplier)
{
    const int32x4_t value =
        scaled(vshlq_r_s32(vldrwq_s32(sum), p->gate_left), vldrhq_s32(multiplier));

#if CODE_BITS == 8
    return value;
#else
    return vshlq_r_s32(value, -p->gate_right);
#endif
}

/* tanh in Q31, for the upper 16 bits. Saturated numbers are taken 2^12 times, so that VRSHR finds the
 * nearest parabola. */
static inline int32x4_t tanh_of(int32x4_t x)
{
    const int32x4_t raised = vqshlq_n_s32(x, 12);
    const uint32x4_t at =
        (uint32x4_t)vshlq_n_s32(vrshrq_n_s32(raised, 12 + CORTEXM_PARABOLA_BITS), 3);
    const int32x4_t f = vshrq_n_s32(vshlq_n_s32(raised, 20 - CORTEXM_PARABOLA_BITS),
                                    32 - CORTEXM_PARABOLA_BITS);
    const int32_t *const zero = &cortexm_parabolas[CORTEXM_PARABOLA_ZERO].value;
    const int32x4_t value = vldrwq_gather_offset_s32(zero, at);
    const int32x4_t word = vldrwq_gather_offset_s32(zero + 1, at);
    const int32x4_t curvature = vmovlbq_s16((int16x8_t)word);
    const int32x4_t slope = vshrq_n_s32(vaddq_s32(word, vmulq_s32(curvature, f)), 16);

    return vaddq_s32(value, vmulq_s32(slope, f));
}

/* Sigmoid of twice the argument in Q15, from the tanh. */
static inline int32x4_t sigmoid_of(int32x4_t x)
{
    return vshrq_n_s32(vaddq_n_s32(vshrq_n_s32(tanh_of(x), 1), INT32_C(1) << 30), 16);
}

static inline int32_t cortexm_out_start(const cortexm_recurrent_t *p)
{
    return (int32_t)((UINT32_C(1) << (p->out_shift - 1)) +
                     ((uint32_t)p->out_zero_point << p->out_shift));
}

/* The code of a state. */
static inline ELEMENT cortexm_state_code(const cortexm_recurrent_t *p, int32_t state, int32_t start)
{
    const int32_t most = (1 << (CODE_BITS - 1)) - 1;

    return (ELEMENT)cortexm_clamp((state * p->out_multiplier + start) >> p->out_shift, -1 - most, most);
}

/* Four codes, from products that begin with `start`. */
static inline void put_codes(const cortexm_recurrent_t *p, int32x4_t value, int32_t start, ELEMENT *h,
                             ELEMENT *y)
{
    const int32x4_t code =
        vqshlq_n_s32(vshlq_r_s32(vaddq_n_s32(value, start), -p->out_shift), 32 - CODE_BITS);

#if CODE_BITS == 8
    vstrbq_s32(h, vshrq_n_s32(code, 24));
    vstrbq_s32(y, vshrq_n_s32(code, 24));
#else
    vstrhq_s32(h, vshrq_n_s32(code, 16));
    vstrhq_s32(y, vshrq_n_s32(code, 16));
#endif
}

static inline void lstm_block(const cortexm_recurrent_t *p, const int32_t *sum, const int16_t *m,
                              int32_t start, int16_t *c, ELEMENT *h, ELEMENT *y)
{
    const int32x4_t in = sigmoid_of(preactivation(p, sum, m));
    const int32x4_t forget = sigmoid_of(preactivation(p, sum + 4, m + 4));
    const int32x4_t change = vshrq_n_s32(tanh_of(preactivation(p, sum + 8, m + 8)), 16);
    const int32x4_t out = sigmoid_of(preactivation(p, sum + 12, m + 12));
    const int32x4_t new = vshlq_r_s32(vmulq_s32(in, change), p->state_bits - 15);
    const int32x4_t kept =
        vaddq_n_s32(vaddq_s32(vmulq_s32(forget, vldrhq_s32(c)), new), 1 << 14);
    /* floor(kept / 2^15), saturated to 16 bits */
    const int32x4_t state = vshrq_n_s32(vqshlq_n_s32(kept, 1), 16);
    const int32x4_t shown =
        vshrq_n_s32(tanh_of(vshlq_r_s32(state, 16 - p->state_bits)), 16);

    vstrhq_s32(c, state);
    put_codes(p, scaled(vmulq_s32(out, shown), vdupq_n_s32(p->out_multiplier)), start, h, y);
}

static inline void gru_block(const cortexm_recurrent_t *p, const int32_t *both, const int32_t *of_x,
                             const int32_t *of_h, const int16_t *m, const int16_t *m_x,
                             const int16_t *m_h, int32_t start, int16_t *state, ELEMENT *h, ELEMENT *y)
{
    const int32x4_t reset = sigmoid_of(preactivation(p, both, m));
    const int32x4_t keep = sigmoid_of(preactivation(p, both + 4, m + 4));
    const int32x4_t part = scaled(preactivation(p, of_h, m_h), reset);
    const int32x4_t sum = vaddq_s32(preactivation(p, of_x, m_x), vshlq_n_s32(part, 1));
    const int32x4_t fresh = vshlq_r_s32(vshrq_n_s32(tanh_of(sum), 16), p->state_bits - 15);
    const int32x4_t step = vmulq_s32(keep, vsubq_s32(vldrhq_s32(state), fresh));
    const int32x4_t next = vaddq_s32(fresh, vrshrq_n_s32(step, 15));

    vstrhq_s32(state, next);
    put_codes(p, vmulq_n_s32(next, p->out_multiplier), start, h, y);
}

static inline void rnn_block(const cortexm_recurrent_t *p, const int32_t *sum, const int16_t *m,
                             int32_t start, ELEMENT *h, ELEMENT *y)
{
    const int32x4_t x = preactivation(p, sum, m);
    const int32x4_t positive =
        vmaxq_s32(vshrq_n_s32(vqshlq_n_s32(x, 12), 16), vdupq_n_s32(0));
    const int32x4_t value = p->is_relu ? positive : vshrq_n_s32(tanh_of(x), 16);

    put_codes(p, vmulq_n_s32(value, p->out_multiplier), start, h, y);
}

/* What a block of less than four cells is computed from, and into. */
typedef struct {
    int32_t sum[4][4];
    int16_t m[4][4];
    int16_t state[4];
    ELEMENT h[4], y[4];
} last_t;

/* The n sums and multipliers of a gate. */
static inline void put_gate(last_t *last, int gate, const int32_t *sum, const int16_t *m, int32_t n)
{
    memcpy(last->sum[gate], sum, (uint32_t)n * sizeof *sum);
    memcpy(last->m[gate], m, (uint32_t)n * sizeof *m);
}

static inline void get_codes(const last_t *last, ELEMENT *h, ELEMENT *y, int32_t n)
{
    memcpy(h, last->h, (uint32_t)n * sizeof *h);
    memcpy(y, last->y, (uint32_t)n * sizeof *y);
}

static inline void lstm_cells(const cortexm_recurrent_t *p, const int32_t *sum, int16_t *c, ELEMENT *h,
                              ELEMENT *y)
{
    const int16_t *m = p->gates;
    const int32_t start = cortexm_out_start(p);
    const int32_t rest = p->hidden % 4;

    for (int32_t blocks = p->hidden / 4; blocks > 0; --blocks) {
        lstm_block(p, sum, m, start, c, h, y);
        sum += 16;
        m += 16;
        c += 4;
        h += 4;
        y += 4;
    }
    if (rest != 0) {
        last_t last = {0};

        for (int gate = 0; gate < 4; ++gate) {
            put_gate(&last, gate, sum + gate * rest, m + gate * rest, rest);
        }
        memcpy(last.state, c, (uint32_t)rest * sizeof *c);
        lstm_block(p, last.sum[0], last.m[0], start, last.state, last.h, last.y);
        memcpy(c, last.state, (uint32_t)rest * sizeof *c);
        get_codes(&last, h, y, rest);
    }
}

static inline void gru_cells(const cortexm_recurrent_t *p, const int32_t *both, const int32_t *of_x,
                             const int32_t *of_h, int16_t *state, ELEMENT *h, ELEMENT *y)
{
    const int16_t *m = p->gates;
    const int16_t *m_x = m + 2 * p->hidden;
    const int16_t *m_h = m_x + p->hidden;
    const int32_t start = cortexm_out_start(p);
    const int32_t rest = p->hidden % 4;

    for (int32_t blocks = p->hidden / 4; blocks > 0; --blocks) {
        gru_block(p, both, of_x, of_h, m, m_x, m_h, start, state, h, y);
        both += 8;
        m += 8;
        of_x += 4;
        of_h += 4;
        m_x += 4;
        m_h += 4;
        state += 4;
        h += 4;
        y += 4;
    }
    if (rest != 0) {
        last_t last = {0};

        put_gate(&last, 0, both, m, rest);
        put_gate(&last, 1, both + rest, m + rest, rest);
        put_gate(&last, 2, of_x, m_x, rest);
        put_gate(&last, 3, of_h, m_h, rest);
        memcpy(last.state, state, (uint32_t)rest * sizeof *state);
        gru_block(p, last.sum[0], last.sum[2], last.sum[3], last.m[0], last.m[2], last.m[3], start,
                  last.state, last.h, last.y);
        memcpy(state, last.state, (uint32_t)rest * sizeof *state);
        get_codes(&last, h, y, rest);
    }
}

static inline void rnn_cells(const cortexm_recurrent_t *p, const int32_t *sum, ELEMENT *h, ELEMENT *y)
{
    const int16_t *m = p->gates;
    const int32_t start = cortexm_out_start(p);
    const int32_t rest = p->hidden % 4;

    for (int32_t blocks = p->hidden / 4; blocks > 0; --blocks) {
        rnn_block(p, sum, m, start, h, y);
        sum += 4;
        m += 4;
        h += 4;
        y += 4;
    }
    if (rest != 0) {
        last_t last = {0};

        put_gate(&last, 0, sum, m, rest);
        rnn_block(p, last.sum[0], last.m[0], start, last.h, last.y);
        get_codes(&last, h, y, rest);
    }
}

#endif
