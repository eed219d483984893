/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routines of scalar.h for Armv7-M and the Armv8-M Mainline. Those that keep eight and six sums in
 * their fourteen registers, which the compiler would put on the stack, are in assembler, and codes are
 * saturated by SSAT, which it seldom finds. The others are scalar.h's.
 */
#ifndef CORTEXM_COMMON_V7M_H
#define CORTEXM_COMMON_V7M_H

#if !defined(__thumb2__)
#error "v7m kernels need a core with Armv7-M or the Armv8-M Mainline"
#endif

#include <stdint.h>

static inline int32_t cortexm_saturate_v7m(int32_t value)
{
    int32_t code;

    __asm__("ssat %0, #8, %1" : "=r"(code) : "r"(value));
    return code;
}

#define CORTEXM_SATURATE cortexm_saturate_v7m
#define cortexm_triples_chunk cortexm_triples_chunk_in_c
#define cortexm_quads_add cortexm_quads_add_in_c
#include "common/scalar.h"
#undef cortexm_triples_chunk
#undef cortexm_quads_add

CORTEXM_NAKED static void
cortexm_triples_chunk(const uint32_t *panel, const uint8_t *w, int32_t n, const uint32_t start[2],
                      int32_t sum[12])
{
    CORTEXM_TAKES(panel);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(start);
    CORTEXM_TAKES(sum);
#if WEIGHT_BITS == 4
/* Two inputs: their weights are the lower and the upper halves of the bytes of a word. */
#define PRODUCTS(bit, first, second)                                                               \
    "ubfx lr, r12, #" bit ", #4\n"                                                                 \
    "mla  " first ", lr, r2, " first "\n"                                                          \
    "mla  " second ", lr, r3, " second "\n"
#define STEP                                                                                       \
    "ldr   r12, [r1], #4\n"                                                                        \
    "ldmia r0!, {r2, r3}\n" PRODUCTS("0", "r4", "r5") PRODUCTS("8", "r6", "r7")                    \
        PRODUCTS("16", "r8", "r9") PRODUCTS("24", "r10", "r11")                                    \
    "ldmia r0!, {r2, r3}\n" PRODUCTS("4", "r4", "r5") PRODUCTS("12", "r6", "r7")                   \
        PRODUCTS("20", "r8", "r9") PRODUCTS("28", "r10", "r11")
#define LOOP                                                                                       \
    "add   r12, r0, r2, lsl #3\n"                                                                  \
    "push  {r12}\n"                                                                                \
    "tst   r2, #2\n"                                                                               \
    "bne   2f\n"                                                                                   \
    "1:\n" STEP                                                                                    \
    "2:\n" STEP                                                                                    \
    "ldr   r12, [sp]\n"                                                                            \
    "cmp   r0, r12\n"                                                                              \
    "bne   1b\n"                                                                                   \
    "add   sp, #4\n"
#else
#define PRODUCTS(first, second)                                                                    \
    "ldrb r12, [r1], #1\n"                                                                         \
    "mla  " first ", r12, r2, " first "\n"                                                         \
    "mla  " second ", r12, r3, " second "\n"
#define STEP                                                                                       \
    "ldmia r0!, {r2, r3}\n" PRODUCTS("r4", "r5") PRODUCTS("r6", "r7") PRODUCTS("r8", "r9")         \
        PRODUCTS("r10", "r11")
#define LOOP                                                                                       \
    "add   lr, r0, r2, lsl #3\n"                                                                   \
    "ands  r2, r2, #3\n"                                                                           \
    "beq   1f\n"                                                                                   \
    "cmp   r2, #2\n"                                                                               \
    "blo   4f\n"                                                                                   \
    "beq   3f\n"                                                                                   \
    "b     2f\n"                                                                                   \
    "1:\n" STEP                                                                                    \
    "2:\n" STEP                                                                                    \
    "3:\n" STEP                                                                                    \
    "4:\n" STEP                                                                                    \
    "cmp   r0, lr\n"                                                                               \
    "bne   1b\n"
#endif
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
                     "mov   r11, r5\n" LOOP
                     "ldr   r0, [sp, #36]\n" SEPARATE("r4", "r5", "0", "16", "32")
                         SEPARATE("r6", "r7", "4", "20", "36")
                             SEPARATE("r8", "r9", "8", "24", "40")
                                 SEPARATE("r10", "r11", "12", "28", "44")
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef SEPARATE
#undef LOOP
#undef STEP
#undef PRODUCTS
}

CORTEXM_NAKED static void
cortexm_quads_add(const int8_t *x, const uint8_t *w, int32_t n, uint32_t T[6], int32_t second)
{
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(T);
    CORTEXM_TAKES(second);
#if WEIGHT_BITS == 4
#define PRODUCTS(word, x, sum0, sum1, sum2)                                                        \
    "mla   " sum0 ", " word ", " x ", " sum0 "\n"                                                  \
    "rev   lr, " word "\n"                                                                         \
    "rev16 " word ", " word "\n"                                                                   \
    "mla   " sum1 ", lr, " x ", " sum1 "\n"                                                        \
    "mla   " sum2 ", " word ", " x ", " sum2 "\n"
#define BLOCK(pointer, sum0, sum1, sum2)                                                           \
    "ldr   r4, [" pointer "], #4\n"                                                                \
    "and   r5, r4, #0x0f0f0f0f\n" PRODUCTS("r5", "r3", sum0, sum1, sum2)                           \
    "lsr   r4, r4, #4\n"                                                                           \
    "and   r4, r4, #0x0f0f0f0f\n" PRODUCTS("r4", "r12", sum0, sum1, sum2)
#define STEP                                                                                       \
    "ldrsb r3, [r0], #1\n"                                                                         \
    "ldrsb r12, [r0], #1\n" BLOCK("r1", "r6", "r7", "r8") BLOCK("r2", "r9", "r10", "r11")
#define STEPS STEP STEP
#else
#define BLOCK(pointer, sum0, sum1, sum2)                                                           \
    "ldr   r4, [" pointer "], #4\n"                                                                \
    "mla   " sum0 ", r4, r3, " sum0 "\n"                                                           \
    "rev   r5, r4\n"                                                                               \
    "rev16 r4, r4\n"                                                                               \
    "mla   " sum1 ", r5, r3, " sum1 "\n"                                                           \
    "mla   " sum2 ", r4, r3, " sum2 "\n"
#define STEP                                                                                       \
    "ldrsb r3, [r0], #1\n" BLOCK("r1", "r6", "r7", "r8") BLOCK("r2", "r9", "r10", "r11")
#define STEPS STEP STEP STEP STEP
#endif
    __asm__ volatile("push  {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "add   r12, r0, r2\n"
                     "push  {r12}\n" /* the end */
                     "ldr   r2, [sp, #44]\n"
                     "add   r2, r1\n"
                     "ldmia r3, {r6, r7, r8, r9, r10, r11}\n"
                     "1:\n" STEPS
                     "ldr   r12, [sp]\n"
                     "cmp   r0, r12\n"
                     "bne   1b\n"
                     "add   sp, #4\n"
                     "pop   {r3}\n"
                     "stmia r3, {r6, r7, r8, r9, r10, r11}\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef STEPS
#undef PRODUCTS
#undef STEP
#undef BLOCK
}

#endif
