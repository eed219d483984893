/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dot products of one or two vectors of `depth` codes with four output channels.
 *
 * The plan packs the weights (pack "gemm4", plan/kernels/packing_mve.py): channels in blocks of four, each
 * block in chunks along the depth; a chunk holds its bytes of channel 0, 1, 2 and 3. The first chunk
 * has `first` = 1 … 16 bytes of each channel, the `chunks` that follow 16: the loop then needs no
 * remainder. One to three channels that are left follow as they are, one after another. The first
 * chunk is read in whole vectors: behind the last block there are 16 bytes less `depth`, if that is
 * any, which need not be weights.
 *
 * Weights of 4 bits ("nibble_gemm4"; WEIGHT_BITS, stamp.h) are the same with the codes of channels 0
 * and 1, and of 2 and 3, in the lower and upper halves of one byte. Either half times 16 is an int8
 * again, so all sums are 16 times what they should be, which leaves them exact below 2^17 inputs. A
 * channel that is left has vectors of 32 codes, the first 16 in the lower halves.
 *
 * Inline assembly: VMLADAVA adds into an even-numbered register, so eight sums take all that there
 * are, the link register included. GCC 12 neither allocates them so nor uses loops with tails.
 */
#ifndef CORTEXM_COMMON_GEMM_MVE_H
#define CORTEXM_COMMON_GEMM_MVE_H

#include "common/mve.h"
#include "common/stamp.h"

typedef struct {
    uint32_t first, chunks;
} cortexm_depth_t;

static inline cortexm_depth_t cortexm_depth_of(int32_t depth)
{
    const uint32_t chunks = ((uint32_t)depth - 1u) / 16u;
    const cortexm_depth_t d = {(uint32_t)depth - 16u * chunks, chunks};

    return d;
}

/* The bytes of a channel's weights that is left of fours, and of so many channels' weights. */
static inline int32_t cortexm_row_bytes(int32_t depth)
{
#if WEIGHT_BITS == 8
    return depth;
#else
    return depth / 32 * 16 + cortexm_min(depth % 32, 16);
#endif
}

static inline int32_t cortexm_rows_bytes(int32_t channels, int32_t depth)
{
    return channels / 4 * (depth * 4 * WEIGHT_BITS / 8) + channels % 4 * cortexm_row_bytes(depth);
}

/* The products of one chunk: the first, of `lr` inputs of every vector, and of 16; "" or "a", which adds them
 * to the sums. */
#if WEIGHT_BITS == 8
#define CORTEXM_FIRST_CHUNK                                                                        \
    "vpstt\n\t"                                                                                    \
    "vldrbt.u8   %q[u], [%[x]]\n\t"                                                                \
    "vldrbt.u8   %q[v], [%[y]]\n\t"                                                                \
    "vldrb.u8    %q[s], [%[w]]\n\t"                                                                \
    "add         %[w], %[w], %[turns]\n\t"                                                         \
    "vmladava.s8 r0, %q[s], %q[u]\n\t"                                                             \
    "vldrb.u8    %q[t], [%[w]]\n\t"                                                                \
    "vmladava.s8 r8, %q[s], %q[v]\n\t"                                                             \
    "add         %[w], %[w], %[turns]\n\t"                                                         \
    "vmladava.s8 r2, %q[t], %q[u]\n\t"                                                             \
    "vldrb.u8    %q[s], [%[w]]\n\t"                                                                \
    "vmladava.s8 r10, %q[t], %q[v]\n\t"                                                            \
    "add         %[w], %[w], %[turns]\n\t"                                                         \
    "vmladava.s8 r4, %q[s], %q[u]\n\t"                                                             \
    "vldrb.u8    %q[t], [%[w]]\n\t"                                                                \
    "vmladava.s8 r12, %q[s], %q[v]\n\t"                                                            \
    "add         %[w], %[w], %[turns]\n\t"                                                         \
    "vmladava.s8 r6, %q[t], %q[u]\n\t"                                                             \
    "add         %[x], %[x], %[turns]\n\t"                                                         \
    "add         %[y], %[y], %[turns]\n\t"                                                         \
    "vmladava.s8 lr, %q[t], %q[v]\n\t"
#define CORTEXM_CHUNK                                                                              \
    "vldrb.u8    %q[u], [%[x]], #16\n\t"                                                           \
    "vldrb.u8    %q[s], [%[w]], #16\n\t"                                                           \
    "vmladava.s8 r0, %q[s], %q[u]\n\t"                                                         \
    "vldrb.u8    %q[v], [%[y]], #16\n\t"                                                           \
    "vmladava.s8 r8, %q[s], %q[v]\n\t"                                                         \
    "vldrb.u8    %q[t], [%[w]], #16\n\t"                                                           \
    "vmladava.s8 r2, %q[t], %q[u]\n\t"                                                         \
    "vldrb.u8    %q[s], [%[w]], #16\n\t"                                                           \
    "vmladava.s8 r10, %q[t], %q[v]\n\t"                                                        \
    "vmladava.s8 r4, %q[s], %q[u]\n\t"                                                         \
    "vldrb.u8    %q[t], [%[w]], #16\n\t"                                                           \
    "vmladava.s8 r12, %q[s], %q[v]\n\t"                                                        \
    "vmladava.s8 r6, %q[t], %q[u]\n\t"                                                         \
    "vmladava.s8 lr, %q[t], %q[v]\n\t"
/* The same for one vector of inputs; its first chunk of which u has the inputs. */
#define CORTEXM_FIRST_OF_ONE(first)                                                                \
    "vldrb.u8    %q[s], [%[w]]\n\t"                                                                \
    "add         %[w], %[w], " first "\n\t"                                                         \
    "vldrb.u8    %q[t], [%[w]]\n\t"                                                                \
    "vmladav.s8  r0, %q[s], %q[u]\n\t"                                                             \
    "add         %[w], %[w], " first "\n\t"                                                         \
    "vldrb.u8    %q[s], [%[w]]\n\t"                                                                \
    "vmladav.s8  r2, %q[t], %q[u]\n\t"                                                             \
    "add         %[w], %[w], " first "\n\t"                                                         \
    "vldrb.u8    %q[t], [%[w]]\n\t"                                                                \
    "vmladav.s8  r4, %q[s], %q[u]\n\t"                                                             \
    "add         %[w], %[w], " first "\n\t"                                                         \
    "vmladav.s8  r6, %q[t], %q[u]\n\t"
#define CORTEXM_CHUNK_OF_ONE(a)                                                                    \
    "vldrb.u8    %q[u], [%[x]], #16\n\t"                                                           \
    "vldrb.u8    %q[s], [%[w]], #16\n\t"                                                           \
    "vmladav" a ".s8 r0, %q[s], %q[u]\n\t"                                                             \
    "vldrb.u8    %q[t], [%[w]], #16\n\t"                                                           \
    "vmladav" a ".s8 r2, %q[t], %q[u]\n\t"                                                             \
    "vldrb.u8    %q[s], [%[w]], #16\n\t"                                                           \
    "vmladav" a ".s8 r4, %q[s], %q[u]\n\t"                                                             \
    "vldrb.u8    %q[t], [%[w]], #16\n\t"                                                           \
    "vmladav" a ".s8 r6, %q[t], %q[u]\n\t"
#define CORTEXM_SIXTEENTH(sums)
/* Sums begin with the biases at r8, … */
#define CORTEXM_SUMS_START(g) (g)->start.bias
#define CORTEXM_SUMS_FROM "mov         %[from], r8\n\t"
#define CORTEXM_SUMS                                                                               \
    "ldm         %[from], {r0, r2, r4, r6}\n\t"                                                   \
    "ldm         %[from]!, {r8, r10, r12, lr}\n\t"
#define CORTEXM_ADD_BIAS
#define CORTEXM_SUMS_BEHIND "str         %[from], [%[g], #-8]\n\t"
#define CORTEXM_LOAD_MULTIPLIERS "vldrw.u32   %q[t], [r6], #16\n\t"
#define CORTEXM_UPPER_HALVES
#else
#define CORTEXM_FIRST_CHUNK                                                                        \
    "vpstt\n\t"                                                                                    \
    "vldrbt.u8   %q[u], [%[x]]\n\t"                                                                \
    "vldrbt.u8   %q[v], [%[y]]\n\t"                                                                \
    "vldrb.u8    %q[s], [%[w]]\n\t"                                                                \
    "add         %[w], %[w], %[turns]\n\t"                                                               \
    "vshl.i8     %q[t], %q[s], #4\n\t"                                                             \
    "vand        %q[s], %q[s], %q[upper]\n\t"                                                      \
    "vmladava.s8  r0, %q[t], %q[u]\n\t"                                                             \
    "vmladava.s8  r8, %q[t], %q[v]\n\t"                                                             \
    "vldrb.u8    %q[t], [%[w]]\n\t"                                                                \
    "vmladava.s8  r2, %q[s], %q[u]\n\t"                                                             \
    "add         %[w], %[w], %[turns]\n\t"                                                               \
    "vmladava.s8  r10, %q[s], %q[v]\n\t"                                                            \
    "vshl.i8     %q[s], %q[t], #4\n\t"                                                             \
    "vand        %q[t], %q[t], %q[upper]\n\t"                                                      \
    "vmladava.s8  r4, %q[s], %q[u]\n\t"                                                             \
    "add         %[x], %[x], %[turns]\n\t"                                                               \
    "vmladava.s8  r12, %q[s], %q[v]\n\t"                                                            \
    "add         %[y], %[y], %[turns]\n\t"                                                               \
    "vmladava.s8  r6, %q[t], %q[u]\n\t"                                                             \
    "vmladava.s8  lr, %q[t], %q[v]\n\t"
#define CORTEXM_CHUNK                                                                              \
    "vldrb.u8    %q[s], [%[w]], #16\n\t"                                                           \
    "vldrb.u8    %q[u], [%[x]], #16\n\t"                                                           \
    "vshl.i8     %q[t], %q[s], #4\n\t"                                                             \
    "vmladava.s8 r0, %q[t], %q[u]\n\t"                                                         \
    "vldrb.u8    %q[v], [%[y]], #16\n\t"                                                           \
    "vmladava.s8 r8, %q[t], %q[v]\n\t"                                                         \
    "vand        %q[s], %q[s], %q[upper]\n\t"                                                      \
    "vmladava.s8 r2, %q[s], %q[u]\n\t"                                                         \
    "vldrb.u8    %q[t], [%[w]], #16\n\t"                                                           \
    "vmladava.s8 r10, %q[s], %q[v]\n\t"                                                        \
    "vshl.i8     %q[s], %q[t], #4\n\t"                                                             \
    "vmladava.s8 r4, %q[s], %q[u]\n\t"                                                         \
    "vand        %q[t], %q[t], %q[upper]\n\t"                                                      \
    "vmladava.s8 r12, %q[s], %q[v]\n\t"                                                        \
    "vmladava.s8 r6, %q[t], %q[u]\n\t"                                                         \
    "vmladava.s8 lr, %q[t], %q[v]\n\t"
#define CORTEXM_FIRST_OF_ONE(first)                                                                \
    "vldrb.u8    %q[s], [%[w]]\n\t"                                                                \
    "add         %[w], %[w], " first "\n\t"                                                         \
    "vshl.i8     %q[t], %q[s], #4\n\t"                                                             \
    "vand        %q[s], %q[s], %q[upper]\n\t"                                                      \
    "vmladav.s8  r0, %q[t], %q[u]\n\t"                                                             \
    "vldrb.u8    %q[t], [%[w]]\n\t"                                                                \
    "vmladav.s8  r2, %q[s], %q[u]\n\t"                                                             \
    "add         %[w], %[w], " first "\n\t"                                                         \
    "vshl.i8     %q[s], %q[t], #4\n\t"                                                             \
    "vand        %q[t], %q[t], %q[upper]\n\t"                                                      \
    "vmladav.s8  r4, %q[s], %q[u]\n\t"                                                             \
    "vmladav.s8  r6, %q[t], %q[u]\n\t"
#define CORTEXM_CHUNK_OF_ONE(a)                                                                    \
    "vldrb.u8    %q[s], [%[w]], #16\n\t"                                                           \
    "vldrb.u8    %q[u], [%[x]], #16\n\t"                                                           \
    "vshl.i8     %q[t], %q[s], #4\n\t"                                                             \
    "vmladav" a ".s8 r0, %q[t], %q[u]\n\t"                                                             \
    "vand        %q[s], %q[s], %q[upper]\n\t"                                                      \
    "vldrb.u8    %q[t], [%[w]], #16\n\t"                                                           \
    "vmladav" a ".s8 r2, %q[s], %q[u]\n\t"                                                             \
    "vshl.i8     %q[s], %q[t], #4\n\t"                                                             \
    "vmladav" a ".s8 r4, %q[s], %q[u]\n\t"                                                             \
    "vand        %q[t], %q[t], %q[upper]\n\t"                                                      \
    "vmladav" a ".s8 r6, %q[t], %q[u]\n\t"
#define CORTEXM_LOAD_MULTIPLIERS                                                                   \
    "vldrh.u32   %q[t], [r6], #8\n\t"                                                              \
    "vshl.i32    %q[t], %q[t], #16\n\t"
#define CORTEXM_SIXTEENTH(sums) "vshr.s32    %q[" sums "], %q[" sums "], #4\n\t"
/* … or with zeros, as 16 times the biases might not fit. */
static const int32_t cortexm_zeros[8] = {0};
#define CORTEXM_SUMS_START(g) cortexm_zeros
#define CORTEXM_SUMS_FROM
#define CORTEXM_SUMS "ldm         %[from], {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
#define CORTEXM_ADD_BIAS                                                                           \
    CORTEXM_SIXTEENTH("u") CORTEXM_SIXTEENTH("v")                                                  \
    "vldrw.u32   %q[s], [r8], #16\n\t"                                                            \
    "vadd.i32    %q[u], %q[u], %q[s]\n\t"                                                         \
    "vadd.i32    %q[v], %q[v], %q[s]\n\t"
#define CORTEXM_SUMS_BEHIND
#define CORTEXM_UPPER_HALVES , [upper] "w"(vdupq_n_u8(0xf0))
#endif

/* Bytes of CORTEXM_CHUNK: all of its instructions have four. */
#if WEIGHT_BITS == 8
#define CORTEXM_CHUNK_BYTES (56u + CORTEXM_LANDING_BYTES)
#else
#define CORTEXM_CHUNK_BYTES (64u + CORTEXM_LANDING_BYTES)
#endif
/* Those of what closes the loop. */
#define CORTEXM_CLOSE_BYTES (8u + CORTEXM_LANDING_BYTES)

/* Pairs of pixels, all channels. The inner loop's registers are full, so the rest lies in memory: in this order,
 * as LDM and STM move it. */
typedef struct {
    const int8_t *shift;              /* all negative; this and what follows is of the next channels */
    int8_t *out[2];                   /* may be equal */
    const MULTIPLIER *multiplier;
    const int32_t *bias;
    int32_t more;                     /* channels after the block */
    const int8_t *window[2];          /* x and y */
    int32_t turns;                    /* of the loop over chunks, twice, less 1 if negative sums are results; or
                                       * inputs of the first chunk if it has less than 16 */
    uint32_t entry;                   /* the address where to begin, and … */
    int32_t loop_turns;               /* … turns and … */
    uint32_t loop_entry;              /* … address behind a first chunk of less than 16, … */
    uint32_t is_short;                /* … if there is one, not 0 */
    uint32_t loop;                    /* bytes of the chunks that the first turn leaves out, and 1 for Thumb */
    struct {
        const int8_t *shift;
        int8_t *out[2];
        const MULTIPLIER *multiplier;
        const int32_t *bias;
        int32_t more;                 /* channels after the first block */
    } start;                          /* where the next pair begins */
    int32_t pairs;
    const int8_t *weight;
    int32_t x_gap, out_gap;           /* from the end of a pair's windows and results to the next pair's */
} cortexm_gemm_t;

/* What follows from the depth, and from whether a result can be below the zero point. `depth` may be 0, where all
 * products are. */
static inline void cortexm_gemm_depth(cortexm_gemm_t *g, int32_t depth, int signs)
{
    const int32_t first = depth & 15;
    const int32_t chunks = (int32_t)((uint32_t)depth / 16);
    const int32_t turns = cortexm_max((chunks + 3) / 4, 1);

    g->is_short = (uint32_t)first;
    g->loop_turns = 2 * turns - signs;
    g->loop = (uint32_t)(4 * turns - chunks) * CORTEXM_CHUNK_BYTES + 1;
    if (chunks == 0) { /* the loop is left out */
        g->loop_turns -= 2;
        g->loop += CORTEXM_CLOSE_BYTES;
    }
    g->turns = first != 0 ? first : g->loop_turns;
}

/* out: the finished products of all pairs, at least one, with all whole blocks of channels. Moves shift …
 * bias of g on to the channels of the last pair that are left, and returns their weights.
 *
 * Rounding takes 1 from negative sums (cortexm_rounding_shift_mve), which makes no difference where
 * the clamp takes all of them. */
static inline const int8_t *cortexm_gemm_2_mve(cortexm_gemm_t *g, const cortexm_finish_t *finish)
{
    register const int8_t *x __asm__("r1");
    register const int8_t *y __asm__("r3");
    register int32_t turns __asm__("r5");
    const int8_t *w;
    uint32_t *const block = (uint32_t *)(void *)g->window; /* between what LDM loads before and after the loop */
    const int32_t *from = CORTEXM_SUMS_START(g);
    int32x4_t u, v, s, t;

    __asm__ volatile(
        ".p2align    2\n\t" /* for ADR */
        "ldrd        r0, r2, [%[g], #24]\n\t"
        "adr.w       lr, 1f\n\t"
        "add         r2, r2, lr\n\t"
        "cbz         r0, 5f\n\t"
        "ldr         r0, [%[g], #8]\n\t"
        "vctp.8      r0\n\t" /* for all first chunks */
        "str         r2, [%[g], #20]\n\t"
        "adr.w       r2, 4f\n\t"
        "adds        r2, r2, #1\n"
        "5:\n\t"
        "str         r2, [%[g], #12]\n"
        "7:\n\t"
        "add         lr, %[g], #32\n\t"
        "ldm         lr, {r0, r2, r4, r6, r8, r10}\n\t"
        "ldr         %[w], [%[g], #60]\n\t" CORTEXM_SUMS_FROM
        "cmp         r10, #0\n\t"
        "stmdb       %[g], {r0, r2, r4, r6, r8, r10}\n\t"
        "blt         3f\n"
        "0:\n\t" CORTEXM_SUMS
        "ldm         %[g], {%[x], %[y], %[turns], pc}\n"
        "4:\n\t" CORTEXM_LANDING CORTEXM_FIRST_CHUNK
        "ldr         %[turns], [%[g], #16]\n\t"
        "ldr         pc, [%[g], #20]\n"
        /* Then four chunks at a time, entered in the middle. */
        "1:\n\t"
        ".rept       4\n\t" CORTEXM_LANDING CORTEXM_CHUNK
        ".endr\n\t" CORTEXM_LANDING
        "subs.w      %[turns], %[turns], #2\n\t"
        "bgt.w       1b\n\t" CORTEXM_LANDING /* without a chunk */
        /* The sums as vectors of four channels; then even registers are free. */
        "vmov        %e[u], r0, r2\n\t"
        "vmov        %f[u], r4, r6\n\t"
        "vmov        %e[v], r8, r10\n\t"
        "vmov        %f[v], r12, lr\n\t"
        "ldmdb       %[g], {r0, r2, r4, r6, r8, r10}\n\t" CORTEXM_ADD_BIAS CORTEXM_LOAD_MULTIPLIERS
        "vqrdmulh.s32 %q[u], %q[u], %q[t]\n\t"
        "vldrb.s32   %q[s], [r0], #4\n\t"
        "vqrdmulh.s32 %q[v], %q[v], %q[t]\n\t"
        "cbz         %[turns], 2f\n\t"
        "mov         lr, #1\n\t"
        "vqdmlah.s32 %q[u], %q[u], lr\n\t"
        "vqdmlah.s32 %q[v], %q[v], lr\n"
        "2:\n\t"
        "vrshl.s32   %q[u], %q[u], %q[s]\n\t"
        "vrshl.s32   %q[v], %q[v], %q[s]\n\t"
        "vmax.s32    %q[u], %q[u], %q[low]\n\t"
        "vmax.s32    %q[v], %q[v], %q[low]\n\t"
        "vmin.s32    %q[u], %q[u], %q[high]\n\t"
        "vmin.s32    %q[v], %q[v], %q[high]\n\t"
        "vadd.i32    %q[u], %q[u], %q[zero]\n\t"
        "vadd.i32    %q[v], %q[v], %q[zero]\n\t"
        "vstrb.32    %q[u], [r2], #4\n\t"
        "vstrb.32    %q[v], [r4], #4\n\t"
        "subs        r10, r10, #4\n\t"
        "stmdb       %[g], {r0, r2, r4, r6, r8, r10}\n\t"
        "bge         0b\n\t"
        /* The next pair. */
        "ldr         %[turns], [%[g], #56]\n\t"
        "subs        %[turns], %[turns], #1\n\t"
        "beq         3f\n\t"
        "ldrd        r6, r8, [%[g], #64]\n\t"
        "str         %[turns], [%[g], #56]\n\t"
        "add         %[x], %[x], r6\n\t"
        "add         %[y], %[y], r6\n\t"
        "add         r2, r2, r8\n\t"
        "add         r4, r4, r8\n\t"
        "strd        %[x], %[y], [%[g]]\n\t"
        "strd        r2, r4, [%[g], #36]\n\t"
        "b           7b\n"
        "3:\n\t" CORTEXM_SUMS_BEHIND
        : [u] "=&w"(u), [v] "=&w"(v), [s] "=&w"(s), [t] "=&w"(t), [x] "=&r"(x), [y] "=&r"(y),
          [w] "=&r"(w), [turns] "=&r"(turns), [from] "+&r"(from)
        : [g] "r"(block), [low] "w"(finish->low), [high] "w"(finish->high),
          [zero] "w"(finish->zero_point) CORTEXM_UPPER_HALVES
        : "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "cc", "memory");
    return w;
}

#if WEIGHT_BITS == 8

/* The same for `channels` = 1 … 3 that are left; g stays as it is. */
static inline void cortexm_gemm_2_rest_mve(const cortexm_gemm_t *g, const int8_t *weight,
                                           int32_t depth, int32_t channels,
                                           const cortexm_finish_t *finish)
{
    const int8_t *x;
    const int8_t *y;
    const int8_t *w;
    int32x4_t u, s;
    int32_t o = 0;

    __asm__ volatile("0:\n\t"
                     "ldrd         %[x], %[y], [%[g], #24]\n\t"
                     "mov          %[w], %[weight]\n\t"
                     "movs         r0, #0\n\t"
                     "movs         r2, #0\n\t"
                     "wlstp.8      lr, %[depth], 2f\n"
                     "1:\n\t"
                     "vldrb.u8     %q[s], [%[w]], #16\n\t"
                     "vldrb.u8     %q[u], [%[x]], #16\n\t"
                     "vmladava.s8  r0, %q[s], %q[u]\n\t"
                     "vldrb.u8     %q[u], [%[y]], #16\n\t"
                     "vmladava.s8  r2, %q[s], %q[u]\n\t"
                     "letp         lr, 1b\n"
                     "2:\n\t"
                     /* Both sums as lanes of one vector. */
                     "vmov         %e[u], r0, r2\n\t"
                     "ldrd         %[x], %[y], [%[g], #12]\n\t"
                     "ldr          r0, [%[y], %[o], lsl #2]\n\t"
                     "ldr          r2, [%[x], %[o], lsl #2]\n\t"
                     "vadd.i32     %q[u], %q[u], r0\n\t"
                     "vqrdmulh.s32 %q[u], %q[u], r2\n\t"
                     "ldr          %[x], [%[g]]\n\t"
                     "ldrsb        r0, [%[x], %[o]]\n\t"
                     /* As cortexm_rounding_shift_mve. */
                     "vshr.s32     %q[s], %q[u], #31\n\t"
                     "vadd.i32     %q[u], %q[u], %q[s]\n\t"
                     "vrshl.s32    %q[u], r0\n\t"
                     "vmax.s32     %q[u], %q[u], %q[low]\n\t"
                     "vmin.s32     %q[u], %q[u], %q[high]\n\t"
                     "vadd.i32     %q[u], %q[u], %q[zero]\n\t"
                     "vmov         r0, r2, %e[u]\n\t"
                     "ldrd         %[x], %[y], [%[g], #4]\n\t"
                     "strb         r0, [%[x], %[o]]\n\t"
                     "strb         r2, [%[y], %[o]]\n\t"
                     "adds         %[o], %[o], #1\n\t"
                     "add          %[weight], %[weight], %[depth]\n\t"
                     "cmp          %[o], %[channels]\n\t"
                     "bne          0b\n\t"
                     : [u] "=&w"(u), [s] "=&w"(s), [x] "=&l"(x), [y] "=&l"(y), [w] "=&l"(w),
                       [weight] "+&r"(weight), [o] "+&l"(o)
                     : [depth] "r"(depth), [channels] "r"(channels), [g] "r"(g),
                       [low] "w"(finish->low), [high] "w"(finish->high),
                       [zero] "w"(finish->zero_point)
                     : "r0", "r2", "lr", "cc", "memory");
}

/* The product of x with one channel. */
static inline int32_t cortexm_dot_mve(const int8_t *x, const int8_t *weight, int32_t depth)
{
    int32_t sum = 0;
    int8x16_t s, u;

    __asm__ volatile("wlstp.8     lr, %[depth], 2f\n"
                     "1:\n\t"
                     "vldrb.u8    %q[s], [%[w]], #16\n\t"
                     "vldrb.u8    %q[u], [%[x]], #16\n\t"
                     "vmladava.s8 %[sum], %q[s], %q[u]\n\t"
                     "letp        lr, 1b\n"
                     "2:\n\t"
                     : [s] "=&w"(s), [u] "=&w"(u), [x] "+r"(x), [w] "+r"(weight), [sum] "+Te"(sum)
                     : [depth] "r"(depth)
                     : "lr", "memory");
    return sum;
}

#else

/* The product of x with one channel. */
static inline int32_t cortexm_dot_mve(const int8_t *x, const int8_t *weight, int32_t depth)
{
    const int8x16_t upper = vdupq_n_s8((int8_t)0xf0);
    int32_t sum = 0;

    for (; depth > 0; depth -= 32) {
        const mve_pred16_t inside = vctp8q((uint32_t)depth);
        const int8x16_t codes = vldrbq_z_s8(weight, inside);

        sum = vmladavaq_s8(sum, vshlq_n_s8(codes, 4), vldrbq_z_s8(x, inside));
        if (depth > 16) {
            const mve_pred16_t rest = vctp8q((uint32_t)depth - 16u);

            sum = vmladavaq_s8(sum, vandq_s8(codes, upper), vldrbq_z_s8(x + 16, rest));
        }
        x += 32;
        weight += 16;
    }
    return sum >> 4;
}

/* As cortexm_gemm_2_mve, for `channels` = 1 … 3 that are left; g stays as it is. */
static inline void cortexm_gemm_2_rest_mve(const cortexm_gemm_t *g, const int8_t *weight,
                                           int32_t depth, int32_t channels,
                                           const cortexm_finish_t *finish)
{
    for (int32_t o = 0; o < channels; ++o) {
        int32x4_t sum = vdupq_n_s32(cortexm_dot_mve(g->window[0], weight, depth));

        sum = vsetq_lane_s32(cortexm_dot_mve(g->window[1], weight, depth), sum, 1);
        sum = cortexm_requantize_right_mve(vaddq_n_s32(sum, g->bias[o]),
                                           vdupq_n_s32(CORTEXM_Q31(g->multiplier[o])), vdupq_n_s32(g->shift[o]));
        sum = cortexm_finish(sum, *finish);
        g->out[0][o] = (int8_t)vgetq_lane_s32(sum, 0);
        g->out[1][o] = (int8_t)vgetq_lane_s32(sum, 1);
        weight += cortexm_row_bytes(depth);
    }
}

#endif

/* Products of x with the four channels at *weight, which moves on to the next four. */
static inline int32x4_t cortexm_dot_4x1_mve(const int8_t *x, const int8_t **weight,
                                            cortexm_depth_t depth)
{
    int32x4_t u, s, t;
    const int8_t *w = *weight;

    __asm__ volatile(
        "vctp.8      %[first]\n\t"
        "vpst\n\t"
        "vldrbt.u8   %q[u], [%[x]]\n\t" CORTEXM_FIRST_OF_ONE("%[first]")
        "add         %[x], %[x], %[first]\n\t"
        "wls         lr, %[chunks], 2f\n"
        "1:\n\t" CORTEXM_CHUNK_OF_ONE("a")
        "le          lr, 1b\n"
        "2:\n\t"
        "vmov        %e[u], r0, r2\n\t"
        "vmov        %f[u], r4, r6\n\t" CORTEXM_SIXTEENTH("u")
        : [u] "=&w"(u), [s] "=&w"(s), [t] "=&w"(t), [x] "+r"(x), [w] "+r"(w)
        : [first] "r"(depth.first), [chunks] "r"(depth.chunks) CORTEXM_UPPER_HALVES
        : "r0", "r2", "r4", "r6", "lr", "cc", "memory");
    *weight = w;
    return u;
}

#endif
