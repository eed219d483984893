/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul, int8, MVE: two rows of lhs times four of rhs. See kernels/README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "batch_matmul_s8_mve.c needs MVE"
#endif

#include "common/mve.h"
#include "common/names.h"
#include "cortexm/kernels.h"

/* Lanes 0 and 1 (half e) or 2 and 3 (f) of u and v: products of rows x and y with the rows w and next.
 * Assembly, because GCC 12 does not use loops with tails. */
#define MULTIPLY_2X2(half, u, v, x, y, w, next, depth)                                             \
    do {                                                                                           \
        const int8_t *from_x = (x);                                                                \
        const int8_t *from_y = (y);                                                                \
        const int8_t *from_w = (w);                                                                \
        const int8_t *from_next = (next);                                                          \
        int8x16_t a, b, s, t;                                                                      \
                                                                                                   \
        __asm__ volatile("mov         r0, #0\n\t"                                                  \
                         "mov         r2, #0\n\t"                                                  \
                         "mov         r4, #0\n\t"                                                  \
                         "mov         r6, #0\n\t"                                                  \
                         "wlstp.8     lr, %[count], 2f\n"                                          \
                         "1:\n\t"                                                                  \
                         "vldrb.u8    %q[a], [%[from_x]], #16\n\t"                                 \
                         "vldrb.u8    %q[s], [%[from_w]], #16\n\t"                                 \
                         "vmladava.s8 r0, %q[a], %q[s]\n\t"                                        \
                         "vldrb.u8    %q[t], [%[from_next]], #16\n\t"                              \
                         "vmladava.s8 r2, %q[a], %q[t]\n\t"                                        \
                         "vldrb.u8    %q[b], [%[from_y]], #16\n\t"                                 \
                         "vmladava.s8 r4, %q[b], %q[s]\n\t"                                        \
                         "vmladava.s8 r6, %q[b], %q[t]\n\t"                                        \
                         "letp        lr, 1b\n"                                                    \
                         "2:\n\t"                                                                  \
                         "vmov        %" #half "[of_x], r0, r2\n\t"                                \
                         "vmov        %" #half "[of_y], r4, r6\n\t"                                \
                         : [of_x] "+w"(u), [of_y] "+w"(v), [a] "=&w"(a), [b] "=&w"(b),             \
                           [s] "=&w"(s), [t] "=&w"(t), [from_x] "+r"(from_x),                      \
                           [from_y] "+r"(from_y), [from_w] "+r"(from_w),                           \
                           [from_next] "+r"(from_next)                                             \
                         : [count] "r"(depth)                                                      \
                         : "r0", "r2", "r4", "r6", "lr", "cc", "memory");                          \
    } while (0)

typedef struct {
    int32x4_t left_shift;
    int32_t multiplier, right_shift;
    cortexm_finish_t finish;
} scale_t;

static inline int32x4_t codes(int32x4_t sum, const scale_t *s)
{
    sum = vqrdmulhq_n_s32(vshlq_s32(sum, s->left_shift), s->multiplier);
    if (s->right_shift < 0) {
        sum = cortexm_rounding_shift_mve(sum, vdupq_n_s32(s->right_shift));
    }
    return cortexm_finish(sum, s->finish);
}

/* One product of matrices; offsets[c] is what the zero point of lhs adds to column c. */
static void multiply(const cortexm_batch_matmul_s8_t *p, const int8_t *lhs, const int8_t *rhs,
                     const int32_t *offsets, const scale_t *scale, int8_t *out)
{
    const int32_t depth = p->inner;
    const int32_t cols = p->cols;

    for (int32_t rows = p->rows; rows > 0; rows -= 2) {
        /* A last row that is alone is computed twice; columns that do not exist repeat the first. */
        const int8_t *const y = rows > 1 ? lhs + depth : lhs;
        int8_t *const out_y = rows > 1 ? out + cols : out;
        const int8_t *w = rhs;
        int32_t x_offset = 0;
        int32_t y_offset = 0;

        if (p->rhs_zero_point != 0) {
            x_offset = -p->rhs_zero_point * cortexm_sum_mve(lhs, depth);
            y_offset = -p->rhs_zero_point * cortexm_sum_mve(y, depth);
        }
        for (int32_t col = 0; col < cols; col += 4) {
            const int32_t left = cols - col;
            const int8_t *const w1 = left > 1 ? w + depth : w;
            const int8_t *const w2 = left > 2 ? w1 + depth : w;
            const int8_t *const w3 = left > 3 ? w2 + depth : w;
            const int32x4_t offset = vldrwq_s32(offsets + col);
            int32x4_t u = offset;
            int32x4_t v = offset;

            MULTIPLY_2X2(e, u, v, lhs, y, w, w1, depth);
            MULTIPLY_2X2(f, u, v, lhs, y, w2, w3, depth);
            u = codes(vaddq_n_s32(vaddq_s32(u, offset), x_offset), scale);
            v = codes(vaddq_n_s32(vaddq_s32(v, offset), y_offset), scale);
            cortexm_store_mve(out + col, u, left);
            cortexm_store_mve(out_y + col, v, left);
            w = w3 + depth;
        }
        lhs += 2 * depth;
        out += 2 * cols;
    }
}

void cortexm_batch_matmul_s8_mve(const cortexm_batch_matmul_s8_t *params, const int8_t *lhs,
                                 const int8_t *rhs, int8_t *out, void *scratch)
{
    const cortexm_batch_matmul_s8_t *const p = params;
    const scale_t scale = {
        vdupq_n_s32(cortexm_max(p->shift, 0)),
        p->multiplier,
        cortexm_min(p->shift, 0),
        cortexm_finish_of(p->out_zero_point, INT8_MIN, INT8_MAX),
    };
    int32_t *const offsets = scratch;

    for (int32_t n = 0; n < p->batches; ++n) {
        const int8_t *w = rhs;

        for (int32_t col = 0; col < p->cols; ++col) {
            const int32_t sum = cortexm_sum_mve(w, p->inner) - p->inner * p->rhs_zero_point;

            offsets[col] = -p->lhs_zero_point * sum;
            w += p->inner;
        }
        multiply(p, lhs, rhs, offsets, &scale, out);
        lhs += p->rows * p->inner;
        rhs = w;
        out += p->rows * p->cols;
    }
}
