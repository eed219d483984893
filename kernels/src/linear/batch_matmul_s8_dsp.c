/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul, int8, DSP instructions. See kernels/README.md for the formula.
 *
 * Four rows of rhs at a time are widened to 16 bits in scratch, less their zero point: for four inputs
 * the pairs (0, 2) and (1, 3) of each row. Rows of lhs are widened as they are read. */
#if !defined(__ARM_FEATURE_DSP)
#error "batch_matmul_s8_dsp.c needs the DSP extension"
#endif

#include "common/apart.h"
#include "common/dsp.h"
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

#define COLUMNS 4
#define ONES UINT32_C(0x00010001)

/* n < 4 codes, and those of `rest` after them. */
static CORTEXM_APART uint32_t load_rest(const int8_t *codes, int32_t n, uint32_t rest)
{
    while (--n >= 0) {
        const int32_t at = 8 * n;

        rest = (rest & ~(UINT32_C(0xff) << at)) | (uint32_t)(uint8_t)codes[n] << at;
    }
    return rest;
}

/* One row of rhs into two of every eight words of `to`; returns the sum of what is there. */
static int32_t widen(const int8_t *from, int32_t depth, int32_t zero_point, cortexm_word_t *to)
{
    const uint32_t minus = (uint32_t)-zero_point;
    const uint32_t minus_both = cortexm_lower_halves(minus, minus);
    const uint32_t nothing = (uint32_t)(uint8_t)zero_point * UINT32_C(0x01010101);
    int32_t sum = 0;

    for (; depth > 0; depth -= 4) {
        const uint32_t codes =
            depth >= 4 ? cortexm_load4(from) : load_rest(from, depth, nothing);
        const uint32_t even = cortexm_sadd16(cortexm_sxtb16(codes), minus_both);
        const uint32_t odd = cortexm_sadd16(cortexm_sxtb16_ror8(codes), minus_both);

        to[0] = even;
        to[1] = odd;
        sum = cortexm_smlad(cortexm_sadd16(even, odd), ONES, sum);
        from += 4;
        to += 2 * COLUMNS;
    }
    return sum;
}

/* Four inputs times four columns. Assembly, because GCC loads single words. */
#define MULTIPLY_COLUMN(sum)                                                                       \
    "ldrd   %[a], %[b], [%[w]], #8\n\t"                                                            \
    "smlad  " sum ", %[even], %[a], " sum "\n\t"                                                   \
    "smlad  " sum ", %[odd], %[b], " sum "\n\t"

static inline const cortexm_word_t *multiply_quad(uint32_t x, const cortexm_word_t *w,
                                                  int32_t sum[COLUMNS])
{
    uint32_t even, odd, a, b;

    __asm__ volatile("sxtb16 %[even], %[x]\n\t"
                     "sxtb16 %[odd], %[x], ror #8\n\t" MULTIPLY_COLUMN("%[sum0]")
                         MULTIPLY_COLUMN("%[sum1]") MULTIPLY_COLUMN("%[sum2]")
                             MULTIPLY_COLUMN("%[sum3]")
                     : [even] "=&r"(even), [odd] "=&r"(odd), [a] "=&r"(a), [b] "=&r"(b),
                       [w] "+r"(w), [sum0] "+r"(sum[0]), [sum1] "+r"(sum[1]), [sum2] "+r"(sum[2]),
                       [sum3] "+r"(sum[3])
                     : [x] "r"(x)
                     : "memory");
    return w;
}

typedef struct {
    int32_t multiplier, n_minus_one, zero_point; /* see cortexm_narrow_code */
} scale_t;

static inline int8_t code(const scale_t *s, int32_t sum)
{
    return (int8_t)cortexm_narrow_code(2 * sum, s->multiplier, s->n_minus_one, s->zero_point);
}

static inline void put_codes(const scale_t *s, const int32_t sum[COLUMNS], int32_t count,
                             int8_t *to)
{
    to[0] = code(s, sum[0]);
    if (count > 1) {
        to[1] = code(s, sum[1]);
    }
    if (count > 2) {
        to[2] = code(s, sum[2]);
    }
    if (count > 3) {
        to[3] = code(s, sum[3]);
    }
}

void cortexm_batch_matmul_s8_dsp(const cortexm_batch_matmul_s8_t *params, const int8_t *lhs,
                                 const int8_t *rhs, int8_t *out, void *scratch)
{
    const cortexm_batch_matmul_s8_t *const p = params;
    const int32_t depth = p->inner;
    const int32_t rest = depth & 3;
    const scale_t scale = {p->multiplier, -1 - p->shift, 2 * p->out_zero_point + 1};
    cortexm_word_t *const columns = scratch;
    const cortexm_word_t *const end = columns + depth / 4 * 2 * COLUMNS;

    CORTEXM_ASSERT(p->shift < 0);

    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t col = 0; col < p->cols; col += COLUMNS) {
            const int32_t count = cortexm_min(p->cols - col, COLUMNS);
            const int8_t *x = lhs;
            int8_t *codes = out + col;
            int32_t start[COLUMNS] = {0};

            for (int32_t c = 0; c < count; ++c) {
                start[c] = -p->lhs_zero_point *
                           widen(rhs, depth, p->rhs_zero_point, columns + 2 * c);
                rhs += depth;
            }
            for (int32_t row = p->rows; row > 0; --row) {
                int32_t sum[COLUMNS] = {start[0], start[1], start[2], start[3]};

                const cortexm_word_t *w = columns;

                while (w != end) {
                    w = multiply_quad(cortexm_load4(x), w, sum);
                    x += 4;
                }
                if (rest != 0) {
                    (void)multiply_quad(load_rest(x, rest, 0), w, sum);
                    x += rest;
                }
                put_codes(&scale, sum, count, codes);
                codes += p->cols;
            }
        }
        lhs += p->rows * depth;
        out += p->rows * p->cols;
    }
}
