/* SPDX-License-Identifier: Apache-2.0 */
/* add, int8, portable C. See kernels/README.md for the formula. */
#include "common/apart.h"
#include "common/box.h"
#include "common/codes.h"
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/* Bits by which the operands are raised, so that rescaling them loses next to nothing. */
#define RAISE 20

/* Elements in work at once. */
#define BLOCK 16

/* requantize((code - zero_point) * 2^20, multiplier, shift) for shift <= 0, in 32 bits. With the
 * multiplier m = 2^16 * u + l, high_mul is floor((d * m + 2^10) / 2^11) for the difference d, and
 * d * 2^16 * u is a multiple of 2^11. The rounding shift is that of cortexm_rounding_shift. */
typedef struct {
    int32_t upper, upper_start; /* 32 * u, and -zero_point times that */
    int32_t lower, lower_start; /* l, and 2^10 - zero_point * l */
    int32_t n, half, mask;      /* -shift, 2^(n-1) or 0, -1 or 0 for n = 0 */
} operand_t;

static operand_t operand(int32_t zero_point, int32_t multiplier, int32_t shift)
{
    const int32_t upper = (multiplier >> 16) * 32;
    const int32_t lower = multiplier & 0xffff;
    const operand_t result = {upper, -zero_point * upper, lower, (1 << 10) - zero_point * lower,
                              -shift, shift == 0 ? 0 : 1 << (-shift - 1), shift == 0 ? 0 : -1};

    return result;
}

/* sum[i] += the rescaled code x[i * step] */
static CORTEXM_APART void add_rescaled(const operand_t *o, const int8_t *x, int32_t step,
                                       int32_t *sum, int32_t count)
{
    const int32_t upper = o->upper;
    const int32_t upper_start = o->upper_start;
    const int32_t lower = o->lower;
    const int32_t lower_start = o->lower_start;

    for (int32_t *const end = sum + count; sum != end; ++sum) {
        const int32_t code = *x;
        const int32_t high =
            code * upper + upper_start + ((code * lower + lower_start) >> 11);

        *sum += (high + ((high >> 31) & o->mask) + o->half) >> o->n;
        x += step;
    }
}

/* The same for a shift to the left. */
static CORTEXM_APART void add_raised(int32_t zero_point, int32_t multiplier, int32_t shift,
                                     const int8_t *x, int32_t step, int32_t *sum, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        sum[i] += cortexm_requantize(cortexm_shift_left(*x - zero_point, RAISE), multiplier, shift);
        x += step;
    }
}

void cortexm_add_s8_scalar(const cortexm_add_s8_t *params, const int8_t *a, const int8_t *b,
                           int8_t *out)
{
    const cortexm_add_s8_t *const p = params;
    const operand_t of_a = operand(p->a_zero_point, p->a_multiplier, cortexm_min(p->a_shift, 0));
    const operand_t of_b = operand(p->b_zero_point, p->b_multiplier, cortexm_min(p->b_shift, 0));
    const int32_t multiplier[4] = {p->out_multiplier, p->out_multiplier, p->out_multiplier,
                                   p->out_multiplier};
    const int8_t shift[4] = {p->out_shift, p->out_shift, p->out_shift, p->out_shift};
    const cortexm_codes_t codes =
        cortexm_codes(multiplier, shift, 4, p->out_zero_point, p->act_min, p->act_max);
    cortexm_broadcast_t walk = cortexm_broadcast(p->count, p->a_period, p->b_period);

    CORTEXM_ASSERT(p->act_min <= p->act_max);
    while (walk.run > 0) {
        const int8_t *x = a + walk.a;
        const int8_t *y = b + walk.b;
        int8_t *const end = out + walk.run;

        while (out != end) {
            const int32_t count = cortexm_min(BLOCK, (int32_t)(end - out));
            int8_t *const place[BLOCK / 4] = {out, out + 4, out + 8, out + 12};
            int32_t sum[BLOCK] = {0};

            if (p->a_shift <= 0) {
                add_rescaled(&of_a, x, walk.a_step, sum, count);
            } else {
                add_raised(p->a_zero_point, p->a_multiplier, p->a_shift, x, walk.a_step, sum, count);
            }
            if (p->b_shift <= 0) {
                add_rescaled(&of_b, y, walk.b_step, sum, count);
            } else {
                add_raised(p->b_zero_point, p->b_multiplier, p->b_shift, y, walk.b_step, sum, count);
            }
            if (count >= 4) {
                cortexm_put_codes(&codes, 0, 4, sum, count >> 2, place);
            }
            for (int32_t i = count & ~3; i < count; ++i) {
                out[i] = cortexm_code(&codes, 0, sum[i]);
            }
            x += count * walk.a_step;
            y += count * walk.b_step;
            out += count;
        }
        cortexm_broadcast_next(&walk);
    }
}
