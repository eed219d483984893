/* SPDX-License-Identifier: Apache-2.0 */
/* linear, int8, portable C. See kernels/README.md for the formula. Eight outputs at a time; up to three
 * that are left are plain dot products. */
#include <stdint.h>

#include "common/apart.h"
#include "common/codes.h"
#include "common/names.h"
#include "common/rows.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/*
 * Products of one row of inputs with eight outputs' weights at a time, four sums in three words.
 *
 * Weights are packed as "fours" (python/cortexm_tools/plan/kernels/packing.py): outputs in blocks of four, each
 * block [k][4] bytes w + 128; up to three outputs that are left follow, [k] bytes each, for
 * cortexm_quads_rest. So four outputs' weights for one input are a word W, and an input times
 * W, W with its bytes reversed, and W with the bytes of each half swapped adds to four sums a, b, c, d
 * at once. With T[0], T[1], T[2] the sums of these products, modulo 2^32,
 *
 *     T[0] = a + 2^8 b + 2^16 c + 2^24 d
 *     T[1] = d + 2^8 c + 2^16 b + 2^24 a
 *     T[2] = b + 2^8 a + 2^16 d + 2^24 c
 *
 * which determine a, b, c, d in [0, 2^24): see cortexm_quads_separate. 512 products of codes lie in
 * [-512 * 128 * 127, 512 * 128 * 128]; with CORTEXM_QUAD_OFFSET added they are in that range. All words
 * start at CORTEXM_QUAD_OFFSET less 128 times the sum of the inputs, for every output.
 */

#define CORTEXM_QUAD_CHUNK 512
#define CORTEXM_QUAD_OFFSET ((INT32_C(1) << 23) - 1)

#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1

/* T[0 … 2] and T[3 … 5] += sums for n inputs and two blocks of weights, at w and at w + second; n is a
 * multiple of 4, and not 0. */
__attribute__((naked, noinline, unused)) static void
cortexm_quads_add(const int8_t *x, const uint8_t *w, int32_t n, uint32_t T[6], int32_t second)
{
    (void)x;
    (void)w;
    (void)n;
    (void)T;
    (void)second;
#define BLOCK(pointer, offset, sum0, sum1, sum2)                                                   \
    "ldr  r5, [" pointer ", #" offset "]\n"                                                        \
    "rev  r4, r5\n"                                                                                \
    "muls r4, r3\n"                                                                                \
    "add  " sum1 ", r4\n"                                                                          \
    "rev16 r4, r5\n"                                                                               \
    "muls r4, r3\n"                                                                                \
    "add  " sum2 ", r4\n"                                                                          \
    "muls r5, r3\n"                                                                                \
    "add  " sum0 ", r5\n"
#define STEP(k, offset)                                                                            \
    "ldrb r3, [r0, #" k "]\n"                                                                      \
    "sxtb r3, r3\n" BLOCK("r1", offset, "r6", "r7", "r8") BLOCK("r2", offset, "r9", "r10", "r11")
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "push {r3, r4, r5, r6, r7}\n"
                     "adds r2, r0, r2\n"
                     "mov  r12, r2\n" /* the end */
                     "ldr  r2, [sp, #40]\n"
                     "adds r2, r1, r2\n"
                     "ldmia r3!, {r6, r7}\n"
                     "ldmia r3!, {r4, r5}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "ldmia r3!, {r4, r5}\n"
                     "mov  r10, r4\n"
                     "mov  r11, r5\n"
                     "1:\n" STEP("0", "0") STEP("1", "4") STEP("2", "8") STEP("3", "12")
                     "adds r0, #4\n"
                     "adds r1, #16\n"
                     "adds r2, #16\n"
                     "cmp  r0, r12\n"
                     "bne  1b\n"
                     "pop  {r3}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "stmia r3!, {r6, r7}\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "stmia r3!, {r4, r5, r6, r7}\n"
                     "pop  {r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef STEP
#undef BLOCK
}

#elif defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2

/* As above. */
__attribute__((naked, noinline, unused)) static void
cortexm_quads_add(const int8_t *x, const uint8_t *w, int32_t n, uint32_t T[6], int32_t second)
{
    (void)x;
    (void)w;
    (void)n;
    (void)T;
    (void)second;
#define BLOCK(pointer, sum0, sum1, sum2)                                                           \
    "ldr   r4, [" pointer "], #4\n"                                                                \
    "mla   " sum0 ", r4, r3, " sum0 "\n"                                                           \
    "rev   r5, r4\n"                                                                               \
    "rev16 r4, r4\n"                                                                               \
    "mla   " sum1 ", r5, r3, " sum1 "\n"                                                           \
    "mla   " sum2 ", r4, r3, " sum2 "\n"
#define STEP                                                                                       \
    "ldrsb r3, [r0], #1\n" BLOCK("r1", "r6", "r7", "r8") BLOCK("r2", "r9", "r10", "r11")
    __asm__ volatile("push  {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "add   r12, r0, r2\n"
                     "ldr   r2, [sp, #40]\n"
                     "add   r2, r1\n"
                     "ldmia r3, {r6, r7, r8, r9, r10, r11}\n"
                     "1:\n" STEP STEP STEP STEP
                     "cmp   r0, r12\n"
                     "bne   1b\n"
                     "pop   {r3}\n"
                     "stmia r3, {r6, r7, r8, r9, r10, r11}\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef STEP
#undef BLOCK
}

#endif

/* T[0 … 2] += products of n inputs with one block. */
static CORTEXM_APART void cortexm_quads_add_rest(const int8_t *x, const uint8_t *w, int32_t n,
                                                 uint32_t T[3])
{
    for (; n > 0; --n) {
        const uint32_t value = (uint32_t)*x++;
        const uint32_t low = w[0] + ((uint32_t)w[1] << 8);
        const uint32_t high = w[2] + ((uint32_t)w[3] << 8);
        const uint32_t low_swapped = w[1] + ((uint32_t)w[0] << 8);
        const uint32_t high_swapped = w[3] + ((uint32_t)w[2] << 8);

        T[0] += value * (low + (high << 16));
        T[1] += value * (high_swapped + (low_swapped << 16));
        T[2] += value * (low_swapped + (high_swapped << 16));
        w += 4;
    }
}

/* The four sums in T are added to sum[0 … 3].
 *
 * T[0] - 2^8 T[2] = a + 2^16 (c - a) and T[2] - 2^8 T[0] = b + 2^16 (d - b) give the lower halves of a
 * and b. Their upper halves plus these, c + (a >> 16) and d + (b >> 16) modulo 2^16, and T[1] then
 * give (b >> 16) + 2^8 (a >> 16), so all of a and b and the lower halves of c and d. What is left of
 * T[1] is 2^16 (d >> 16) + 2^24 (c >> 16). */
static CORTEXM_APART void cortexm_quads_separate(const uint32_t T[3], int32_t sum[4])
{
    const uint32_t of_a = T[0] - (T[2] << 8);
    const uint32_t of_b = T[2] - (T[0] << 8);
    const uint32_t of_c = (of_a >> 16) + (of_a & 0xffffu);
    const uint32_t of_d = (of_b >> 16) + (of_b & 0xffffu);
    const uint32_t high = of_d + (of_c << 8) - T[1];
    const uint32_t a_high = (high >> 8) & 0xffu;
    const uint32_t b_high = high & 0xffu;
    const uint32_t a = (of_a & 0xffffu) + (a_high << 16);
    const uint32_t b = (of_b & 0xffffu) + (b_high << 16);
    const uint32_t c_low = (of_c - a_high) & 0xffffu;
    const uint32_t d_low = (of_d - b_high) & 0xffffu;
    const uint32_t rest = T[1] - d_low - (c_low << 8) - (b << 16) - (a << 24);

    sum[0] += (int32_t)a;
    sum[1] += (int32_t)b;
    sum[2] += (int32_t)(c_low + (rest >> 24 << 16));
    sum[3] += (int32_t)(d_low + ((rest & 0xff0000u)));
}

/* sum[0 … 7] += sums of x[k] times the weights of two blocks of outputs, at w and at w + second, plus
 * CORTEXM_QUAD_OFFSET, for n <= CORTEXM_QUAD_CHUNK inputs; x_sum is the sum of the inputs. */
static inline void cortexm_quads(const int8_t *x, const uint8_t *w, int32_t n, int32_t x_sum,
                                 int32_t second, int32_t sum[8])
{
    const uint32_t start = (uint32_t)(CORTEXM_QUAD_OFFSET - 128 * x_sum) * 0x01010101u;
    uint32_t T[6] = {start, start, start, start, start, start};
    int32_t done = 0;

#if defined(__ARM_ARCH_ISA_THUMB)
    done = n & ~3;
    if (done != 0) {
        cortexm_quads_add(x, w, done, T, second);
    }
#endif
    if (done != n) {
        cortexm_quads_add_rest(x + done, w + 4 * done, n - done, T);
        cortexm_quads_add_rest(x + done, w + second + 4 * done, n - done, T + 3);
    }
    cortexm_quads_separate(T, sum);
    cortexm_quads_separate(T + 3, sum + 4);
}

/* Sum of x[k] times the weights of one output that is left, with 128 times the sum of the inputs. */
static inline int32_t cortexm_quads_rest(const int8_t *x, const uint8_t *w, int32_t n)
{
    const int8_t *const end = x + n;
    int32_t sum = 0;

    while (x != end) {
        sum += *x++ * *w++;
    }
    return sum;
}

/* sum[0 … 3] = start + bias[0 … 3] */
static void start_sums(const int32_t *bias, int32_t start, int32_t *sum)
{
    sum[0] = start + bias[0];
    sum[1] = start + bias[1];
    sum[2] = start + bias[2];
    sum[3] = start + bias[3];
}

void cortexm_linear_s8_scalar(const cortexm_linear_s8_t *params, const int8_t *in,
                              const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const int32_t depth = p->in_features;
    const int32_t multiplier[4] = {p->multiplier, p->multiplier, p->multiplier, p->multiplier};
    const int8_t shift[4] = {p->shift, p->shift, p->shift, p->shift};
    const cortexm_codes_t codes =
        cortexm_codes(multiplier, shift, 4, p->out_zero_point, p->act_min, p->act_max);
    int32_t *const x_sum = scratch; /* the sum of every chunk of a row */

    CORTEXM_ASSERT(p->act_min <= p->act_max);

    for (int32_t row = 0; row < p->rows; ++row) {
        const uint8_t *w = (const uint8_t *)weight;
        int32_t start = 0; /* what is too much in all sums of whole blocks, negated */
        int32_t rest = 0;  /* and in those of outputs that are left */
        int32_t o = 0;

        for (int32_t k = 0, chunk = 0; k < depth; k += CORTEXM_QUAD_CHUNK) {
            const int32_t sum = cortexm_sum_s8(in + k, cortexm_min(CORTEXM_QUAD_CHUNK, depth - k));

            x_sum[chunk++] = sum;
            rest -= (p->weight_zero_point + 128) * sum;
            start -= CORTEXM_QUAD_OFFSET + p->weight_zero_point * sum;
        }
        while (p->out_features - o >= 4) {
            /* A single block is computed twice. */
            const int32_t second = p->out_features - o >= 8 ? 4 : 0;
            int8_t *const place[2] = {out + o, out + o + 4};
            int32_t sum[8];

            start_sums(bias + o, start, sum);
            start_sums(bias + o + second, start, sum + 4);
            for (int32_t k = 0, chunk = 0; k < depth; k += CORTEXM_QUAD_CHUNK) {
                cortexm_quads(in + k, w + 4 * k, cortexm_min(CORTEXM_QUAD_CHUNK, depth - k),
                              x_sum[chunk++], second * depth, sum);
            }
            cortexm_put_codes(&codes, 0, 4, sum, 1 + second / 4, place);
            w += (4 + second) * depth;
            o += 4 + second;
        }
        for (; o < p->out_features; ++o) {
            int32_t sum = rest + bias[o] + cortexm_quads_rest(in, w, depth);
            int8_t *const place = out + o;

            cortexm_put_codes(&codes, 0, 1, &sum, 1, &place);
            w += depth;
        }
        out += p->out_features;
        in += depth;
    }
}
