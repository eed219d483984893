/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of three windows with four outputs' weights at a time, three sums in two words.
 *
 * Of the inputs x, y, z of three windows the panel holds the words x + 2^21 * z and y + 2^11 * z. A
 * weight times either word adds to two sums at once, modulo 2^32: with a, b and c the sums of x, y
 * and z, each in [0, 2^21), they come to
 *
 *     first  = a + 2^21 * c       second = b + 2^11 * c
 *
 * of which the first gives a and c modulo 2^11; without that part of c the second is
 * b + 2^22 * floor(c / 2^11), below 2^32. So the three sums come back exactly.
 *
 * 64 products of codes lie in [-64 * 128 * 127, 64 * 128 * 128]; with CORTEXM_TRIPLE_OFFSET added
 * they are in [0, 2^21). Longer windows are summed in chunks of 64.
 *
 * Weights are packed as "fours" (python/cortexm_tools/plan/kernels/packing.py): outputs in blocks of four, each
 * block [k][4] bytes w + 128. Unsigned bytes with fixed offsets from one pointer are what every core
 * loads with one instruction. Both words start at -128 times the sum of the panel's, so that they end
 * with the sums of the products with w. Up to three outputs that are left follow, [k] bytes each.
 */
#ifndef CORTEXM_COMMON_TRIPLES_H
#define CORTEXM_COMMON_TRIPLES_H

#include <stdint.h>

#include "common/apart.h"
#include "common/names.h"

#define CORTEXM_TRIPLE_CHUNK 64
#define CORTEXM_TRIPLE_OFFSET ((INT32_C(1) << 20) - 1)

#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1

/* The words of n > 0 inputs of each window; returns their end. */
__attribute__((naked, noinline, unused)) static uint32_t *
cortexm_triples_put(uint32_t *to, const int8_t *x, const int8_t *y, const int8_t *z, int32_t n)
{
    (void)to;
    (void)x;
    (void)y;
    (void)z;
    (void)n;
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "ldr  r4, [sp, #20]\n"
                     "adds r1, r1, r4\n"
                     "adds r2, r2, r4\n"
                     "adds r3, r3, r4\n"
                     "negs r4, r4\n"
                     "1:\n"
                     "ldrsb r7, [r3, r4]\n"
                     "ldrsb r5, [r1, r4]\n"
                     "ldrsb r6, [r2, r4]\n"
                     "lsls r7, r7, #11\n"
                     "adds r6, r6, r7\n"
                     "lsls r7, r7, #10\n"
                     "adds r5, r5, r7\n"
                     "stmia r0!, {r5, r6}\n"
                     "adds r4, #1\n"
                     "bne  1b\n"
                     "pop  {r4, r5, r6, r7, pc}\n");
}

/* sum[0] and sum[1] = sum over n > 0 inputs of either word. */
__attribute__((naked, noinline, unused)) static void
cortexm_triples_sum(const uint32_t *panel, int32_t n, uint32_t sum[2])
{
    (void)panel;
    (void)n;
    (void)sum;
    __asm__ volatile(".syntax unified\n"
                     "push {r2, r4, r5, r6, r7, lr}\n"
                     "lsls r1, r1, #3\n"
                     "adds r1, r0, r1\n"
                     "mov  r12, r1\n"
                     "movs r2, #0\n"
                     "movs r3, #0\n"
                     "subs r1, r1, r0\n"
                     "lsls r1, r1, #28\n"
                     "beq  1f\n"
                     "ldmia r0!, {r2, r3}\n"
                     "cmp  r0, r12\n"
                     "beq  2f\n"
                     "1:\n"
                     "ldmia r0!, {r4, r5, r6, r7}\n"
                     "adds r2, r2, r4\n"
                     "adds r3, r3, r5\n"
                     "adds r2, r2, r6\n"
                     "adds r3, r3, r7\n"
                     "cmp  r0, r12\n"
                     "bne  1b\n"
                     "2:\n"
                     "pop  {r1}\n"
                     "stmia r1!, {r2, r3}\n"
                     "pop  {r4, r5, r6, r7, pc}\n");
}

#else

static CORTEXM_APART uint32_t *cortexm_triples_put(uint32_t *to, const int8_t *x, const int8_t *y,
                                                   const int8_t *z, int32_t n)
{
    for (int32_t i = 0; i < n; ++i) {
        const uint32_t last = (uint32_t)z[i];

        to[0] = (uint32_t)x[i] + (last << 21);
        to[1] = (uint32_t)y[i] + (last << 11);
        to += 2;
    }
    return to;
}

static CORTEXM_APART void cortexm_triples_sum(const uint32_t *panel, int32_t n, uint32_t sum[2])
{
    uint32_t first = 0;
    uint32_t second = 0;

    for (; n >= 4; n -= 4) {
        first += panel[0] + panel[2] + panel[4] + panel[6];
        second += panel[1] + panel[3] + panel[5] + panel[7];
        panel += 8;
    }
    for (; n > 0; --n) {
        first += panel[0];
        second += panel[1];
        panel += 2;
    }
    sum[0] = first;
    sum[1] = second;
}

#endif

/* What both words of every chunk start at, for a panel of `depth` inputs. */
static inline void cortexm_triples_starts(const uint32_t *panel, int32_t depth, uint32_t *start)
{
    const uint32_t offset = (uint32_t)CORTEXM_TRIPLE_OFFSET;

    while (depth > 0) {
        const int32_t n = depth < CORTEXM_TRIPLE_CHUNK ? depth : CORTEXM_TRIPLE_CHUNK;

        cortexm_triples_sum(panel, n, start);
        start[0] = offset * (1u + (1u << 21)) - (start[0] << 7);
        start[1] = offset * (1u + (1u << 11)) - (start[1] << 7);
        start += 2;
        panel += 2 * n;
        depth -= n;
    }
}

/* One chunk of n > 0 inputs: sum[4 * i + o] += sum of window i's inputs times output o's weights, plus
 * CORTEXM_TRIPLE_OFFSET. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
/* Eight sums in registers, most of which only ADD and MOV can reach: the compiler would not dare.
 * The first round begins at the step that leaves a whole number of eights. */
__attribute__((naked, noinline, unused)) static void
cortexm_triples_chunk(const uint32_t *panel, const uint8_t *w, int32_t n, const uint32_t start[2],
                      int32_t sum[12])
{
    (void)panel;
    (void)w;
    (void)n;
    (void)start;
    (void)sum;
#define PRODUCTS(offset, first, second)                                                            \
    "ldrb r4, [r1, #" offset "]\n"                                                                 \
    "movs r5, r4\n"                                                                                \
    "muls r5, r2\n"                                                                                \
    "add  " first ", r5\n"                                                                         \
    "muls r4, r3\n"                                                                                \
    "add  " second ", r4\n"
#define ENTER(left_out, step) "cmp  r5, #" left_out "\n" "bne  1f\n" "b    " step "f\n" "1:\n"
#define STEP(k0, k1, k2, k3)                                                                       \
    "ldmia r0!, {r2, r3}\n" PRODUCTS(k0, "r6", "r7") PRODUCTS(k1, "r8", "r9")                      \
        PRODUCTS(k2, "r10", "r11") PRODUCTS(k3, "r12", "lr")
/* The sums of r6 and r7 are added to [r0], [r0 + 16] and [r0 + 32]. */
#define SEPARATE                                                                                   \
    "lsrs r2, r6, #21\n"                                                                           \
    "lsls r3, r2, #21\n"                                                                           \
    "subs r6, r6, r3\n"                                                                            \
    "lsls r3, r2, #11\n"                                                                           \
    "subs r7, r7, r3\n"                                                                            \
    "lsrs r3, r7, #22\n"                                                                           \
    "lsls r4, r3, #22\n"                                                                           \
    "subs r7, r7, r4\n"                                                                            \
    "lsls r3, r3, #11\n"                                                                           \
    "adds r2, r2, r3\n"                                                                            \
    "ldr  r3, [r0]\n"                                                                              \
    "adds r3, r3, r6\n"                                                                            \
    "str  r3, [r0]\n"                                                                              \
    "ldr  r3, [r0, #16]\n"                                                                         \
    "adds r3, r3, r7\n"                                                                            \
    "str  r3, [r0, #16]\n"                                                                         \
    "ldr  r3, [r0, #32]\n"                                                                         \
    "adds r3, r3, r2\n"                                                                            \
    "str  r3, [r0, #32]\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "push {r4, r5, r6, r7}\n"
                     "lsls r4, r2, #3\n"
                     "adds r4, r0, r4\n"
                     "push {r4}\n" /* the end of the panel */
                     "movs r4, #7\n"
                     "negs r5, r2\n"
                     "ands r5, r4\n" /* steps that the first round leaves out */
                     "lsls r4, r5, #2\n"
                     "subs r1, r1, r4\n"
                     "ldr  r6, [r3]\n"
                     "ldr  r7, [r3, #4]\n"
                     "mov  r8, r6\n"
                     "mov  r9, r7\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "mov  r12, r6\n"
                     "mov  lr, r7\n"
                     "cmp  r5, #0\n"
                     "beq  10f\n"
                     ENTER("7", "17") ENTER("6", "16") ENTER("5", "15") ENTER("4", "14")
                         ENTER("3", "13") ENTER("2", "12")
                     "b    11f\n"
                     "10:\n" STEP("0", "1", "2", "3")
                     "11:\n" STEP("4", "5", "6", "7")
                     "12:\n" STEP("8", "9", "10", "11")
                     "13:\n" STEP("12", "13", "14", "15")
                     "14:\n" STEP("16", "17", "18", "19")
                     "15:\n" STEP("20", "21", "22", "23")
                     "16:\n" STEP("24", "25", "26", "27")
                     "17:\n" STEP("28", "29", "30", "31")
                     "adds r1, #32\n"
                     "ldr  r2, [sp]\n"
                     "cmp  r0, r2\n"
                     "beq  2f\n"
                     "b    10b\n"
                     "2:\n"
                     "ldr  r0, [sp, #40]\n"
                     SEPARATE
                     "adds r0, #4\n"
                     "mov  r6, r8\n"
                     "mov  r7, r9\n" SEPARATE
                     "adds r0, #4\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n" SEPARATE
                     "adds r0, #4\n"
                     "mov  r6, r12\n"
                     "mov  r7, lr\n" SEPARATE
                     "pop  {r3, r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef SEPARATE
#undef STEP
#undef ENTER
#undef PRODUCTS
}
#elif defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2
/* As above, with fourteen registers. */
__attribute__((naked, noinline, unused)) static void
cortexm_triples_chunk(const uint32_t *panel, const uint8_t *w, int32_t n, const uint32_t start[2],
                      int32_t sum[12])
{
    (void)panel;
    (void)w;
    (void)n;
    (void)start;
    (void)sum;
#define PRODUCTS(first, second)                                                                    \
    "ldrb r12, [r1], #1\n"                                                                         \
    "mla  " first ", r12, r2, " first "\n"                                                         \
    "mla  " second ", r12, r3, " second "\n"
#define STEP                                                                                       \
    "ldmia r0!, {r2, r3}\n" PRODUCTS("r4", "r5") PRODUCTS("r6", "r7") PRODUCTS("r8", "r9")         \
        PRODUCTS("r10", "r11")
#define SEPARATE(first, second, a, b, c)                                                           \
    "lsr   r1, " first ", #21\n"                                                                   \
    "sub   " second ", " second ", r1, lsl #11\n"                                                  \
    "lsr   r2, " second ", #22\n"                                                                  \
    "add   r1, r1, r2, lsl #11\n"                                                                  \
    "ubfx  " first ", " first ", #0, #21\n"                                                        \
    "ubfx  " second ", " second ", #0, #22\n"                                                      \
    "ldr   r2, [r0, #" a "]\n"                                                                     \
    "ldr   r3, [r0, #" b "]\n"                                                                     \
    "ldr   r12, [r0, #" c "]\n"                                                                    \
    "add   r2, " first "\n"                                                                        \
    "add   r3, " second "\n"                                                                       \
    "add   r12, r1\n"                                                                              \
    "str   r2, [r0, #" a "]\n"                                                                     \
    "str   r3, [r0, #" b "]\n"                                                                     \
    "str   r12, [r0, #" c "]\n"
    __asm__ volatile("push  {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "ldrd  r4, r5, [r3]\n"
                     "mov   r6, r4\n"
                     "mov   r7, r5\n"
                     "mov   r8, r4\n"
                     "mov   r9, r5\n"
                     "mov   r10, r4\n"
                     "mov   r11, r5\n"
                     "add   lr, r0, r2, lsl #3\n"
                     "ands  r2, r2, #3\n"
                     "beq   1f\n"
                     "cmp   r2, #2\n"
                     "blo   4f\n"
                     "beq   3f\n"
                     "b     2f\n"
                     "1:\n" STEP
                     "2:\n" STEP
                     "3:\n" STEP
                     "4:\n" STEP
                     "cmp   r0, lr\n"
                     "bne   1b\n"
                     "ldr   r0, [sp, #36]\n" SEPARATE("r4", "r5", "0", "16", "32")
                         SEPARATE("r6", "r7", "4", "20", "36")
                             SEPARATE("r8", "r9", "8", "24", "40")
                                 SEPARATE("r10", "r11", "12", "28", "44")
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef SEPARATE
#undef STEP
#undef PRODUCTS
}
#else
static inline void cortexm_triples_chunk(const uint32_t *panel, const uint8_t *w, int32_t n,
                                         const uint32_t start[2], int32_t sum[12])
{
    for (int32_t o = 0; o < 4; ++o) {
        uint32_t first = start[0];
        uint32_t second = start[1];
        uint32_t last;

        for (int32_t k = 0; k < n; ++k) {
            first += panel[2 * k] * w[4 * k + o];
            second += panel[2 * k + 1] * w[4 * k + o];
        }
        last = first >> 21;
        second -= last << 11;
        last += second >> 22 << 11;
        sum[o] += (int32_t)(first & 0x1fffffu);
        sum[4 + o] += (int32_t)(second & 0x3fffffu);
        sum[8 + o] += (int32_t)last;
    }
}
#endif

/* The same for one output that is left: sum[4 * i]. */
static CORTEXM_APART void cortexm_triples_rest(const uint32_t *panel, const uint8_t *w, int32_t n,
                                               const uint32_t start[2], int32_t sum[12])
{
    uint32_t first = start[0];
    uint32_t second = start[1];
    uint32_t last;

    do {
        const uint32_t weight = *w++;

        first += *panel++ * weight;
        second += *panel++ * weight;
    } while (--n != 0);
    last = first >> 21;
    second -= last << 11;
    last += second >> 22 << 11;
    sum[0] += (int32_t)(first & 0x1fffffu);
    sum[4] += (int32_t)(second & 0x3fffffu);
    sum[8] += (int32_t)last;
}

/* sum[4 * i + o] += sum of window i's inputs times output o's weights, plus CORTEXM_TRIPLE_OFFSET per
 * chunk, for a block of four outputs or for one (count) that is left. */
static inline void cortexm_triples(const uint32_t *panel, const uint32_t *start, const uint8_t *w,
                                   int32_t depth, int32_t count, int32_t sum[12])
{
    while (depth > 0 && count == 4) {
        const int32_t n = depth < CORTEXM_TRIPLE_CHUNK ? depth : CORTEXM_TRIPLE_CHUNK;

        cortexm_triples_chunk(panel, w, n, start, sum);
        panel += 2 * n;
        w += 4 * n;
        start += 2;
        depth -= n;
    }
    while (depth > 0) {
        const int32_t n = depth < CORTEXM_TRIPLE_CHUNK ? depth : CORTEXM_TRIPLE_CHUNK;

        cortexm_triples_rest(panel, w, n, start, sum);
        panel += 2 * n;
        w += n;
        start += 2;
        depth -= n;
    }
}

#endif
