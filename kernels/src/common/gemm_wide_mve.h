/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_mve.h for int16 codes: dot products of one or two vectors of `depth` of them with four output
 * channels, weights of 8 or 4 bits, sums of 32 bits. The functions have the names of those there.
 *
 * The plan packs the weights (pack "gemm4_wide", plan/kernels/packing_mve.py) as gemm4, but in chunks of 8: a
 * load extends 8 weights to 16 bits. The first chunk, of `first` = 1 … 8 bytes of each channel, is read in
 * eights: behind the last block there are 8 bytes less `depth`, if that is any.
 *
 * Weights of 4 bits ("nibble_gemm4_wide") are the same with the codes of channels 0 and 1, and of 2 and 3, in
 * the lower and upper halves of one byte, which two shifts and one take out of its 16 bits. A channel
 * that is left has vectors of 16 codes, the first 8 in the lower halves.
 *
 * A code is floor((sum * m + 2^(14-s)) / 2^(15-s)), with s < 0. VQDMULH with 2^16 * m gives v =
 * floor(sum * m / 2^15), and as 2^(14-s) is a multiple of 2^15, floor((v + 2^(-s-1)) / 2^-s) is the code:
 * that is VRSHL.
 */
#ifndef CORTEXM_COMMON_GEMM_WIDE_MVE_H
#define CORTEXM_COMMON_GEMM_WIDE_MVE_H

#include "common/mve.h"
#include "common/stamp.h"

typedef struct {
    uint32_t first, chunks;
} cortexm_depth_t;

static inline cortexm_depth_t cortexm_depth_of(int32_t depth)
{
    const uint32_t chunks = ((uint32_t)depth - 1u) / 8u;
    const cortexm_depth_t d = {(uint32_t)depth - 8u * chunks, chunks};

    return d;
}

/* The bytes of a channel's weights that is left of fours, and of so many channels' weights. */
static inline int32_t cortexm_row_bytes(int32_t depth)
{
#if WEIGHT_BITS == 4
    return depth / 16 * 8 + cortexm_min(depth % 16, 8);
#else
    return depth;
#endif
}

static inline int32_t cortexm_rows_bytes(int32_t channels, int32_t depth)
{
#if WEIGHT_BITS == 4
    return channels / 4 * 2 * depth + channels % 4 * cortexm_row_bytes(depth);
#else
    return channels * depth;
#endif
}

/* Codes of sums, for shifts that are all negative. */
static inline int32x4_t cortexm_wide_codes(int32x4_t sum, int32x4_t multiplier, int32x4_t shift,
                                           const cortexm_finish_t *finish)
{
    sum = vrshlq_s32(vqdmulhq_s32(sum, vshlq_n_s32(multiplier, 16)), shift);
    return vminq_s32(vmaxq_s32(sum, finish->low), finish->high);
}

#if WEIGHT_BITS == 8
/* Eight inputs of x and y with four channels. */
#define CORTEXM_FIRST_CHUNK                                                                        \
    "vldrb.s16    %q[s], [%[w]]\n\t"                                                               \
    "add          %[w], %[w], %[first]\n\t"                                                        \
    "vmladav.s16  r0, %q[s], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[t], [%[w]]\n\t"                                                               \
    "vmladav.s16  r8, %q[s], %q[v]\n\t"                                                            \
    "add          %[w], %[w], %[first]\n\t"                                                        \
    "vmladav.s16  r2, %q[t], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[s], [%[w]]\n\t"                                                               \
    "vmladav.s16  r10, %q[t], %q[v]\n\t"                                                           \
    "add          %[w], %[w], %[first]\n\t"                                                        \
    "vmladav.s16  r4, %q[s], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[t], [%[w]]\n\t"                                                               \
    "vmladav.s16  r12, %q[s], %q[v]\n\t"                                                           \
    "add          %[w], %[w], %[first]\n\t"                                                        \
    "vmladav.s16  r6, %q[t], %q[u]\n\t"                                                            \
    "vmladav.s16  lr, %q[t], %q[v]\n\t"
#define CORTEXM_CHUNK                                                                              \
    "vldrh.u16    %q[u], [%[x]], #16\n\t"                                                          \
    "vldrb.s16    %q[s], [%[w]], #8\n\t"                                                           \
    "vmladava.s16 r0, %q[s], %q[u]\n\t"                                                            \
    "vldrh.u16    %q[v], [%[y]], #16\n\t"                                                          \
    "vmladava.s16 r8, %q[s], %q[v]\n\t"                                                            \
    "vldrb.s16    %q[t], [%[w]], #8\n\t"                                                           \
    "vmladava.s16 r2, %q[t], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[s], [%[w]], #8\n\t"                                                           \
    "vmladava.s16 r10, %q[t], %q[v]\n\t"                                                           \
    "vldrb.s16    %q[t], [%[w]], #8\n\t"                                                           \
    "vmladava.s16 r4, %q[s], %q[u]\n\t"                                                            \
    "vmladava.s16 r12, %q[s], %q[v]\n\t"                                                           \
    "vmladava.s16 r6, %q[t], %q[u]\n\t"                                                            \
    "vmladava.s16 lr, %q[t], %q[v]\n\t"
/* The same for one vector of inputs. */
#define CORTEXM_CHUNK_OF_ONE                                                                       \
    "vldrh.u16    %q[u], [%[x]], #16\n\t"                                                          \
    "vldrb.s16    %q[s], [%[w]], #8\n\t"                                                           \
    "vmladava.s16 r0, %q[s], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[t], [%[w]], #8\n\t"                                                           \
    "vmladava.s16 r2, %q[t], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[s], [%[w]], #8\n\t"                                                           \
    "vmladava.s16 r4, %q[s], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[t], [%[w]], #8\n\t"                                                           \
    "vmladava.s16 r6, %q[t], %q[u]\n\t"
#define CORTEXM_FIRST_OF_ONE                                                                       \
    "vldrb.s16    %q[s], [%[w]]\n\t"                                                               \
    "add          %[w], %[w], %[first]\n\t"                                                        \
    "vldrb.s16    %q[t], [%[w]]\n\t"                                                               \
    "vmladav.s16  r0, %q[s], %q[u]\n\t"                                                            \
    "add          %[w], %[w], %[first]\n\t"                                                        \
    "vldrb.s16    %q[s], [%[w]]\n\t"                                                               \
    "vmladav.s16  r2, %q[t], %q[u]\n\t"                                                            \
    "add          %[w], %[w], %[first]\n\t"                                                        \
    "vldrb.s16    %q[t], [%[w]]\n\t"                                                               \
    "vmladav.s16  r4, %q[s], %q[u]\n\t"                                                            \
    "add          %[w], %[w], %[first]\n\t"                                                        \
    "vmladav.s16  r6, %q[t], %q[u]\n\t"
#else
/* s: bytes of two channels. The first one's codes go to t, the second one's stay. */
#define CORTEXM_TAKE_APART                                                                         \
    "vshl.i16     %q[t], %q[s], #12\n\t"                                                           \
    "vshr.s16     %q[s], %q[s], #4\n\t"                                                            \
    "vshr.s16     %q[t], %q[t], #12\n\t"
#define CORTEXM_FIRST_CHUNK                                                                        \
    "vldrb.s16    %q[s], [%[w]]\n\t"                                                               \
    "add          %[w], %[w], %[first]\n\t" CORTEXM_TAKE_APART                                     \
    "vmladav.s16  r0, %q[t], %q[u]\n\t"                                                            \
    "vmladav.s16  r8, %q[t], %q[v]\n\t"                                                            \
    "vmladav.s16  r2, %q[s], %q[u]\n\t"                                                            \
    "vmladav.s16  r10, %q[s], %q[v]\n\t"                                                           \
    "vldrb.s16    %q[s], [%[w]]\n\t"                                                               \
    "add          %[w], %[w], %[first]\n\t" CORTEXM_TAKE_APART                                     \
    "vmladav.s16  r4, %q[t], %q[u]\n\t"                                                            \
    "vmladav.s16  r12, %q[t], %q[v]\n\t"                                                           \
    "vmladav.s16  r6, %q[s], %q[u]\n\t"                                                            \
    "vmladav.s16  lr, %q[s], %q[v]\n\t"
#define CORTEXM_CHUNK                                                                              \
    "vldrb.s16    %q[s], [%[w]], #8\n\t"                                                           \
    "vldrh.u16    %q[u], [%[x]], #16\n\t" CORTEXM_TAKE_APART                                       \
    "vmladava.s16 r0, %q[t], %q[u]\n\t"                                                            \
    "vldrh.u16    %q[v], [%[y]], #16\n\t"                                                          \
    "vmladava.s16 r8, %q[t], %q[v]\n\t"                                                            \
    "vmladava.s16 r2, %q[s], %q[u]\n\t"                                                            \
    "vmladava.s16 r10, %q[s], %q[v]\n\t"                                                           \
    "vldrb.s16    %q[s], [%[w]], #8\n\t" CORTEXM_TAKE_APART                                        \
    "vmladava.s16 r4, %q[t], %q[u]\n\t"                                                            \
    "vmladava.s16 r12, %q[t], %q[v]\n\t"                                                           \
    "vmladava.s16 r6, %q[s], %q[u]\n\t"                                                            \
    "vmladava.s16 lr, %q[s], %q[v]\n\t"
/* The same for one vector of inputs. */
#define CORTEXM_FIRST_OF_ONE                                                                       \
    "vldrb.s16    %q[s], [%[w]]\n\t"                                                               \
    "add          %[w], %[w], %[first]\n\t" CORTEXM_TAKE_APART                                     \
    "vmladav.s16  r0, %q[t], %q[u]\n\t"                                                            \
    "vmladav.s16  r2, %q[s], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[s], [%[w]]\n\t"                                                               \
    "add          %[w], %[w], %[first]\n\t" CORTEXM_TAKE_APART                                     \
    "vmladav.s16  r4, %q[t], %q[u]\n\t"                                                            \
    "vmladav.s16  r6, %q[s], %q[u]\n\t"
#define CORTEXM_CHUNK_OF_ONE                                                                       \
    "vldrb.s16    %q[s], [%[w]], #8\n\t"                                                           \
    "vldrh.u16    %q[u], [%[x]], #16\n\t" CORTEXM_TAKE_APART                                       \
    "vmladava.s16 r0, %q[t], %q[u]\n\t"                                                            \
    "vmladava.s16 r2, %q[s], %q[u]\n\t"                                                            \
    "vldrb.s16    %q[s], [%[w]], #8\n\t" CORTEXM_TAKE_APART                                        \
    "vmladava.s16 r4, %q[t], %q[u]\n\t"                                                            \
    "vmladava.s16 r6, %q[s], %q[u]\n\t"
#endif

/* Pairs of pixels, all channels. The inner loop's registers are full, so the rest lies in memory. */
typedef struct {
    const int32_t *bias;              /* this and what follows is of the next channels */
    const int16_t *multiplier;
    const int8_t *shift;              /* all negative */
    int32_t more;                     /* channels after the block */
    int16_t *out[2];                  /* may be equal */
    const int16_t *window[2];         /* x and y */
    uint32_t chunks, first;
    struct {
        const int8_t *shift;
        int16_t *out[2];
        const int16_t *multiplier;
        const int32_t *bias;
        int32_t more;                 /* channels after the first block */
    } start;                          /* where the next pair begins */
    int32_t pairs;
    const int8_t *weight;
    int32_t x_gap, out_gap;           /* from the end of a pair's windows and results to the next pair's */
} cortexm_gemm_t;

/* `depth` may be 0, where all products are. */
static inline void cortexm_gemm_depth(cortexm_gemm_t *g, int32_t depth, int signs)
{
    const cortexm_depth_t d = cortexm_depth_of(depth);

    (void)signs;
    g->chunks = depth == 0 ? 0 : d.chunks;
    g->first = depth == 0 ? 0 : d.first;
}

/* The next pair with all whole blocks of channels; the weights behind them. */
static inline const int8_t *cortexm_gemm_pair(cortexm_gemm_t *g, const cortexm_finish_t *finish)
{
    const int8_t *weight = g->weight;
    const uint32_t first = g->first;
    int32x4_t u, v, s, t;
    const int16_t *x;
    const int16_t *y;
    uint32_t chunks;

    __asm__ volatile(
        "0:\n\t"
        "ldrd        %[x], %[y], [%[g], #24]\n\t"
        "ldr         %[chunks], [%[g], #32]\n\t"
        "vctp.16     %[first]\n\t"
        "vpstt\n\t"
        "vldrht.u16  %q[u], [%[x]]\n\t"
        "vldrht.u16  %q[v], [%[y]]\n\t" CORTEXM_FIRST_CHUNK
        "add         %[x], %[x], %[first], lsl #1\n\t"
        "add         %[y], %[y], %[first], lsl #1\n\t"
        "add         %[chunks], %[chunks], #1\n\t"
        "lsrs        %[chunks], %[chunks], #1\n\t"
        "beq         2f\n\t"
        "bcc         3f\n" /* an odd chunk begins in the middle of the loop */
        "1:\n\t" CORTEXM_CHUNK
        "3:\n\t" CORTEXM_CHUNK
        "subs        %[chunks], %[chunks], #1\n\t"
        "bne         1b\n"
        "2:\n\t"
        /* The sums as vectors of four channels; then even registers are free. */
        "vmov        %e[u], r0, r2\n\t"
        "vmov        %f[u], r4, r6\n\t"
        "vmov        %e[v], r8, r10\n\t"
        "vmov        %f[v], r12, lr\n\t"
        "ldrd        r8, r4, [%[g]]\n\t"
        "ldrd        r6, r10, [%[g], #8]\n\t"
        "ldrd        r0, r2, [%[g], #16]\n\t"
        "vldrw.u32   %q[s], [r8], #16\n\t"
        "vadd.i32    %q[u], %q[u], %q[s]\n\t"
        "vldrh.u32   %q[t], [r4], #8\n\t"
        "vadd.i32    %q[v], %q[v], %q[s]\n\t"
        "vshl.i32    %q[t], %q[t], #16\n\t"
        "vldrb.s32   %q[s], [r6], #4\n\t"
        "vqdmulh.s32 %q[u], %q[u], %q[t]\n\t"
        "vqdmulh.s32 %q[v], %q[v], %q[t]\n\t"
        "vrshl.s32   %q[u], %q[u], %q[s]\n\t"
        "strd        r8, r4, [%[g]]\n\t"
        "vrshl.s32   %q[v], %q[v], %q[s]\n\t"
        "vmax.s32    %q[u], %q[u], %q[low]\n\t"
        "vmax.s32    %q[v], %q[v], %q[low]\n\t"
        "vmin.s32    %q[u], %q[u], %q[high]\n\t"
        "vmin.s32    %q[v], %q[v], %q[high]\n\t"
        "vstrh.32    %q[u], [r0], #8\n\t"
        "vstrh.32    %q[v], [r2], #8\n\t"
        "subs        r10, r10, #4\n\t"
        "strd        r6, r10, [%[g], #8]\n\t"
        "strd        r0, r2, [%[g], #16]\n\t"
        "bge         0b\n\t"
        : [u] "=&w"(u), [v] "=&w"(v), [s] "=&w"(s), [t] "=&w"(t), [x] "=&r"(x), [y] "=&r"(y),
          [w] "+&l"(weight), [chunks] "=&r"(chunks)
        : [first] "r"(first), [g] "r"(g), [low] "w"(finish->low), [high] "w"(finish->high)
        : "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "cc", "memory");
    return weight;
}

/* Sets what moves on from block to block to the first channels of the next pair. */
static inline void cortexm_gemm_start(cortexm_gemm_t *g)
{
    g->bias = g->start.bias;
    g->multiplier = g->start.multiplier;
    g->shift = g->start.shift;
    g->more = g->start.more;
    g->out[0] = g->start.out[0];
    g->out[1] = g->start.out[1];
}

/* out: the finished products of all pairs, at least one, with all whole blocks of channels. Moves bias … out of
 * g on to the channels of the last pair that are left, and returns their weights. */
static inline const int8_t *cortexm_gemm_2_mve(cortexm_gemm_t *g, const cortexm_finish_t *finish)
{
    for (;;) {
        const int8_t *weight;

        cortexm_gemm_start(g);
        weight = g->more >= 0 ? cortexm_gemm_pair(g, finish) : g->weight;
        if (--g->pairs == 0) {
            return weight;
        }
        for (int32_t i = 0; i < 2; ++i) {
            g->window[i] += (int32_t)(g->first + 8u * g->chunks) + g->x_gap;
            g->start.out[i] = g->out[i] + g->out_gap;
        }
    }
}

#if WEIGHT_BITS == 4

/* The product of x with one channel. */
static inline int32_t cortexm_dot_mve(const int16_t *x, const int8_t *weight, int32_t depth)
{
    int32_t sum = 0;

    for (; depth > 0; depth -= 16) {
        const mve_pred16_t inside = vctp16q((uint32_t)depth);
        const int16x8_t codes = vldrbq_z_s16(weight, inside);

        sum = vmladavaq_s16(sum, vshrq_n_s16(vshlq_n_s16(codes, 12), 12), vldrhq_z_s16(x, inside));
        if (depth > 8) {
            const mve_pred16_t rest = vctp16q((uint32_t)depth - 8u);

            sum = vmladavaq_s16(sum, vshrq_n_s16(codes, 4), vldrhq_z_s16(x + 8, rest));
        }
        x += 16;
        weight += 8;
    }
    return sum;
}

#else

/* The product of x with one channel. */
static inline int32_t cortexm_dot_mve(const int16_t *x, const int8_t *weight, int32_t depth)
{
    int32_t sum = 0;
    int16x8_t s, u;

    __asm__ volatile("wlstp.16     lr, %[depth], 2f\n"
                     "1:\n\t"
                     "vldrb.s16    %q[s], [%[w]], #8\n\t"
                     "vldrh.u16    %q[u], [%[x]], #16\n\t"
                     "vmladava.s16 %[sum], %q[s], %q[u]\n\t"
                     "letp         lr, 1b\n"
                     "2:\n\t"
                     : [s] "=&w"(s), [u] "=&w"(u), [x] "+l"(x), [w] "+l"(weight), [sum] "+Te"(sum)
                     : [depth] "r"(depth)
                     : "lr", "memory");
    return sum;
}

#endif

#if WEIGHT_BITS == 8

/* As cortexm_gemm_2_mve, for `channels` = 1 … 3 that are left; g stays as it is. */
static inline void cortexm_gemm_2_rest_mve(const cortexm_gemm_t *g, const int8_t *weight,
                                           int32_t depth, int32_t channels,
                                           const cortexm_finish_t *finish)
{
    const int16_t *x;
    const int16_t *y;
    const int8_t *w;
    int32x4_t u, s;
    int32_t o = 0;

    __asm__ volatile("0:\n\t"
                     "ldr          %[x], [%[g]]\n\t"
                     "ldr          r0, [%[x], %[o], lsl #2]\n\t"
                     "ldrd         %[x], %[y], [%[g], #24]\n\t"
                     "mov          r2, r0\n\t"
                     "mov          %[w], %[weight]\n\t"
                     "wlstp.16     lr, %[depth], 2f\n"
                     "1:\n\t"
                     "vldrb.s16    %q[s], [%[w]], #8\n\t"
                     "vldrh.u16    %q[u], [%[x]], #16\n\t"
                     "vmladava.s16 r0, %q[s], %q[u]\n\t"
                     "vldrh.u16    %q[u], [%[y]], #16\n\t"
                     "vmladava.s16 r2, %q[s], %q[u]\n\t"
                     "letp         lr, 1b\n"
                     "2:\n\t"
                     /* Both sums as lanes of one vector. */
                     "vmov         %e[u], r0, r2\n\t"
                     "ldrd         %[x], %[y], [%[g], #4]\n\t"
                     "ldrsh        r2, [%[x], %[o], lsl #1]\n\t"
                     "ldrsb        r0, [%[y], %[o]]\n\t"
                     "lsls         r2, r2, #16\n\t"
                     "vqdmulh.s32  %q[u], %q[u], r2\n\t"
                     "vrshl.s32    %q[u], r0\n\t"
                     "vmax.s32     %q[u], %q[u], %q[low]\n\t"
                     "vmin.s32     %q[u], %q[u], %q[high]\n\t"
                     "vmov         r0, r2, %e[u]\n\t"
                     "ldrd         %[x], %[y], [%[g], #16]\n\t"
                     "strh         r0, [%[x], %[o], lsl #1]\n\t"
                     "strh         r2, [%[y], %[o], lsl #1]\n\t"
                     "adds         %[o], %[o], #1\n\t"
                     "add          %[weight], %[weight], %[depth]\n\t"
                     "cmp          %[o], %[channels]\n\t"
                     "bne          0b\n\t"
                     : [u] "=&w"(u), [s] "=&w"(s), [x] "=&r"(x), [y] "=&r"(y), [w] "=&l"(w),
                       [weight] "+&r"(weight), [o] "+&r"(o)
                     : [depth] "r"(depth), [channels] "r"(channels), [g] "r"(g),
                       [low] "w"(finish->low), [high] "w"(finish->high)
                     : "r0", "r2", "lr", "cc", "memory");
}

#else

/* As cortexm_gemm_2_mve, for `channels` = 1 … 3 that are left; g stays as it is. */
static inline void cortexm_gemm_2_rest_mve(const cortexm_gemm_t *g, const int8_t *weight,
                                           int32_t depth, int32_t channels,
                                           const cortexm_finish_t *finish)
{
    for (int32_t o = 0; o < channels; ++o) {
        int32x4_t sum = vdupq_n_s32(cortexm_dot_mve(g->window[0], weight, depth));

        sum = vsetq_lane_s32(cortexm_dot_mve(g->window[1], weight, depth), sum, 1);
        sum = cortexm_wide_codes(vaddq_n_s32(sum, g->bias[o]), vdupq_n_s32(g->multiplier[o]),
                                 vdupq_n_s32(g->shift[o]), finish);
        g->out[0][o] = (int16_t)vgetq_lane_s32(sum, 0);
        g->out[1][o] = (int16_t)vgetq_lane_s32(sum, 1);
        weight += cortexm_row_bytes(depth);
    }
}

#endif

/* Products of x with the four channels at *weight, which moves on to the next four. */
static inline int32x4_t cortexm_dot_4x1_mve(const int16_t *x, const int8_t **weight,
                                            cortexm_depth_t depth)
{
    int32x4_t u, s, t;
    const int8_t *w = *weight;
    uint32_t chunks = depth.chunks + 1;

    __asm__ volatile(
        "vctp.16      %[first]\n\t"
        "vpst\n\t"
        "vldrht.u16   %q[u], [%[x]]\n\t" CORTEXM_FIRST_OF_ONE
        "add          %[x], %[x], %[first], lsl #1\n\t"
        "lsrs         %[chunks], %[chunks], #1\n\t"
        "wls          lr, %[chunks], 2f\n\t"
        "bcc          3f\n" /* an odd chunk begins in the middle of the loop */
        "1:\n\t" CORTEXM_CHUNK_OF_ONE
        "3:\n\t" CORTEXM_CHUNK_OF_ONE
        "le           lr, 1b\n"
        "2:\n\t"
        "vmov         %e[u], r0, r2\n\t"
        "vmov         %f[u], r4, r6\n\t"
        : [u] "=&w"(u), [s] "=&w"(s), [t] "=&w"(t), [x] "+r"(x), [w] "+l"(w),
          [chunks] "+r"(chunks)
        : [first] "r"(depth.first)
        : "r0", "r2", "r4", "r6", "lr", "cc", "memory");
    *weight = w;
    return u;
}

#endif
