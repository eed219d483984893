/* SPDX-License-Identifier: Apache-2.0 */
/* linear, int8, DSP instructions. See kernels/README.md for the formula.
 *
 * A row of inputs is widened to 16 bits in scratch once and multiplied with the weights of eight
 * outputs at a time, at last of four and of single ones. Weights are packed as "pairs". */
#if !defined(__ARM_FEATURE_DSP)
#error "linear_s8_dsp.c needs the DSP extension"
#endif

#include "common/dsp.h"
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* n codes in 16 bits, filled up to fours with zeros. */
static void widen(const int8_t *in, int32_t n, cortexm_word_t *to)
{
    int16_t *last;

    for (; n >= 4; n -= 4) {
        const uint32_t codes = cortexm_load4(in);
        const uint32_t even = cortexm_sxtb16(codes);
        const uint32_t odd = cortexm_sxtb16_ror8(codes);

        to[0] = cortexm_lower_halves(even, odd);
        to[1] = cortexm_upper_halves(even, odd);
        in += 4;
        to += 2;
    }
    if (n > 0) {
        to[0] = 0;
        to[1] = 0;
        last = (int16_t *)(void *)to;
        for (; n > 0; --n) {
            *last++ = *in++;
        }
    }
}

/* What gemm_1x8 begins with and returns; it knows the places of the members. */
typedef struct {
    int32_t start;
    int32_t block;      /* bytes from one block of four outputs to the next */
    int32_t sum[8];
} sums_t;

/* Two inputs times the four outputs of a block, whose sums are U, S, U, S (dsp.h). */
#define MULTIPLY_BLOCK(w, u0, s0, u1, s1)                                                          \
    "ldrd   r12, lr, [" w "], #8\n"                                                                \
    "smlad  " s0 ", r3, r12, " s0 "\n"                                                             \
    "smlad  " s1 ", r3, lr, " s1 "\n"                                                              \
    "uxtb16 r12, r12\n"                                                                            \
    "uxtb16 lr, lr\n"                                                                              \
    "smlad  " u0 ", r3, r12, " u0 "\n"                                                             \
    "smlad  " u1 ", r3, lr, " u1 "\n"
#define MULTIPLY_STEP                                                                              \
    "ldr    r3, [r0], #4\n" MULTIPLY_BLOCK("r1", "r4", "r5", "r6", "r7")                           \
        MULTIPLY_BLOCK("r2", "r8", "r9", "r10", "r11")

/* Eight outputs for up to 127 quads of inputs, in all registers there are. */
__attribute__((naked, noinline)) static void gemm_1x8(const cortexm_word_t *x,
                                                      const cortexm_word_t *w, int32_t quads,
                                                      sums_t *sums)
{
    (void)x;
    (void)w;
    (void)quads;
    (void)sums;
    __asm__ volatile(
        "push   {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
        "add    r2, r1, r2, lsl #4\n"
        "push   {r2}\n" /* the end of the first block's weights */
        "ldrd   r4, r2, [r3]\n"
        "add    r2, r1\n"
        "mov    r5, r4\n"
        "mov    r6, r4\n"
        "mov    r7, r4\n"
        "mov    r8, r4\n"
        "mov    r9, r4\n"
        "mov    r10, r4\n"
        "mov    r11, r4\n"
        "1:\n" MULTIPLY_STEP MULTIPLY_STEP
        "ldr    r3, [sp]\n"
        "cmp    r1, r3\n"
        "bne    1b\n"
        "sub    r5, r5, r4\n"
        "sub    r7, r7, r6\n"
        "sub    r9, r9, r8\n"
        "sub    r11, r11, r10\n"
        "asr    r5, r5, #8\n"
        "asr    r7, r7, #8\n"
        "asr    r9, r9, #8\n"
        "asr    r11, r11, #8\n"
        "add    sp, #4\n"
        "pop    {r3}\n"
        "add    r3, #8\n"
        "stmia  r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
        "pop    {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

/* gemm_1x8 for any number of inputs. */
static void gemm(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads, int32_t block,
                 int32_t start, sums_t *sums)
{
    sums_t more = {0, block, {0}};

    sums->start = start;
    sums->block = block;
    gemm_1x8(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), sums);
    for (quads -= CORTEXM_RUN_QUADS; quads > 0; quads -= CORTEXM_RUN_QUADS) {
        x += CORTEXM_RUN_QUADS * 2;
        w += CORTEXM_RUN_QUADS * 4;
        gemm_1x8(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), &more);
        for (int32_t i = 0; i < 8; ++i) {
            sums->sum[i] += more.sum[i];
        }
    }
}

void cortexm_linear_s8_dsp(const cortexm_linear_s8_t *params, const int8_t *in,
                           const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const int32_t quads = (p->in_features + 3) / 4;
    const int32_t block_words = (p->in_features + 1) / 2 * 2; /* of four outputs */
    const int32_t multiplier = p->multiplier;
    const int32_t n_minus_one = -1 - p->shift;
    const int32_t zero_point = 2 * p->out_zero_point + 1;
    cortexm_word_t *const x = scratch;
    int8_t *const results = out;

    CORTEXM_ASSERT(p->shift < 0 && p->act_min <= p->act_max);

    for (int32_t row = 0; row < p->rows; ++row) {
        const cortexm_word_t *w = (const cortexm_word_t *)(const void *)weight;
        int32_t start;
        int32_t offset; /* what the weights' zero point adds to every sum of this row */

        widen(in, p->in_features, x);
        start = cortexm_pairs_start(x, 1, quads);
        offset = p->weight_zero_point * (start / 128);
        for (int32_t o = 0; o < p->out_features;) {
            const int32_t left = p->out_features - o;
            int32_t block = 8;
            sums_t sums;

            if (left >= 8) {
                gemm(x, w, quads, 4 * block_words, start, &sums);
                w += 2 * block_words;
            } else if (left >= 4) {
                block = 4;
                cortexm_gemm_1x4(x, 1, w, 2, 1, quads, start, sums.sum);
                w += block_words;
            } else {
                block = 1;
                sums.sum[0] = cortexm_gemm_1x1(x, 1, w, quads);
                w += quads;
            }
            for (int32_t c = 0; c < block; ++c) {
                *out++ = (int8_t)cortexm_narrow_code(2 * (bias[o + c] + offset + sums.sum[c]),
                                                     multiplier, n_minus_one, zero_point);
            }
            o += block;
        }
        in += p->in_features;
    }
    cortexm_clamp_codes(results, p->rows * p->out_features, p->act_min, p->act_max);
}
