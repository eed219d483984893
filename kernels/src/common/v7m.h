/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routines of scalar.h for Armv7-M and the Armv8-M Mainline. Those that keep eight and six sums in
 * their fourteen registers, which the compiler would put on the stack, are in assembler, and that
 * which makes codes of them. The others are scalar.h's.
 */
#ifndef CORTEXM_COMMON_V7M_H
#define CORTEXM_COMMON_V7M_H

#if !defined(__thumb2__)
#error "v7m kernels need a core with Armv7-M or the Armv8-M Mainline"
#endif

#include <stdint.h>

#include "common/stamp.h"

#if CODE_BITS == 8

/* Codes of simple layers (cortexm_simple_code), value[4 * i + k] to out[i][o + k]; or all channels of one row.
 *
 * For the shift -n, with t = floor((value * m + 2^30) / 2^31), less 1 where that is negative, only
 * floor(t / 2^(n-1)) counts: the upper word of value * m + 2^30, less 2^31 where the value is negative,
 * shifted to the right by n - 2. Of negative values with t = 0 that is -1 in place of 0, but
 * (-1 + 2z + 1) >> 1 = (0 + 2z + 1) >> 1. */
CORTEXM_NAKED CORTEXM_SHARED void
cortexm_simple_codes(const cortexm_codes_t *codes, int32_t o, const int32_t *value, int32_t rows,
                     int8_t *const *out)
{
    CORTEXM_TAKES(codes);
    CORTEXM_TAKES(o);
    CORTEXM_TAKES(value);
    CORTEXM_TAKES(rows);
    CORTEXM_TAKES(out);
#if WEIGHT_BITS == 4
#define NEXT_CHANNEL                                                                               \
    "ldrsh r4, [r1], #2\n"                                                                         \
    "lsls  r4, r4, #16\n" NEXT_SHIFT
#define CHANNELS                                                                                   \
    "add   r1, r3, r1, lsl #1\n"                                                                   \
    "add   lr, r1, #8\n"
#define FIRST_AGAIN "subs  r1, #8\n" "subs  r2, #4\n"
#define ALL_CHANNELS "add   lr, r1, r8, lsl #1\n"
#else
#define NEXT_CHANNEL "ldr   r4, [r1], #4\n" NEXT_SHIFT
#define CHANNELS                                                                                   \
    "add   r1, r3, r1, lsl #2\n"                                                                   \
    "add   lr, r1, #16\n"
#define FIRST_AGAIN "subs  r1, #16\n" "subs  r2, #4\n"
#define ALL_CHANNELS "add   lr, r1, r8, lsl #2\n"
#endif
#define NEXT_SHIFT                                                                                 \
    "ldrb  r5, [r2], #1\n"                                                                         \
    "rsb   r5, r5, #254\n" /* n - 2 */
#define CODE(from, to)                                                                             \
    "ldr   r7, [r0" from "\n"                                                                      \
    "asrs  r6, r7, #31\n"                                                                          \
    "orr   r12, r11, r6, lsl #31\n"                                                                \
    "smlal r12, r6, r7, r4\n"                                                                      \
    "asrs  r6, r5\n"                                                                               \
    "adds  r6, r6, r3\n"                                                                           \
    "ssat  r6, #8, r6, asr #1\n"                                                                   \
    "strb  r6, [" to "], #1\n"
    __asm__ volatile(".syntax unified\n"
                     "push  {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "ldr   r12, [sp, #36]\n"
                     "mov   r8, r3\n"
                     "mov   r10, r1\n"
                     "ldm   r0, {r3, r4, r5}\n" /* multiplier, shift, zero_point */
                     "mov   r0, r2\n"
                     "adds  r2, r4, r1\n" CHANNELS
                     "lsls  r3, r5, #1\n"
                     "adds  r3, #1\n"
                     "mov   r11, #0x40000000\n"
                     "cmp   r8, #3\n"
                     "bne   2f\n"
                     "ldm   r12, {r8, r9, r12}\n"
                     "add   r8, r10\n"
                     "add   r9, r10\n"
                     "add   r10, r12\n"
                     "1:\n" NEXT_CHANNEL CODE("], #4", "r8") CODE(", #12]", "r9")
                         CODE(", #28]", "r10")
                     "cmp   r1, lr\n"
                     "bne   1b\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n"
                     "2:\n" /* row by row, or all channels of one */
                     "cmp   r8, #4\n"
                     "blo   4f\n" ALL_CHANNELS
                     "mov   r8, #1\n"
                     "4:\n"
                     "ldr   r9, [r12], #4\n"
                     "str   r12, [sp, #36]\n"
                     "add   r9, r10\n"
                     "3:\n" NEXT_CHANNEL CODE("], #4", "r9")
                     "cmp   r1, lr\n"
                     "bne   3b\n" FIRST_AGAIN
                     "ldr   r12, [sp, #36]\n"
                     "subs  r8, #1\n"
                     "bne   4b\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef CODE
#undef NEXT_SHIFT
#undef ALL_CHANNELS
#undef FIRST_AGAIN
#undef CHANNELS
#undef NEXT_CHANNEL
}

#define CORTEXM_SIMPLE_CODES
#define cortexm_triples_all cortexm_triples_all_v7m
#define CORTEXM_SIGNED_FOURS
#define cortexm_quads_sums cortexm_quads_sums_in_c
#define cortexm_triples_put cortexm_triples_put_in_c
#include "common/scalar.h"
#undef cortexm_quads_sums
#undef cortexm_triples_put

CORTEXM_NAKED static uint32_t *
cortexm_triples_put(uint32_t *to, const int8_t *x, const int8_t *y, const int8_t *z, int32_t n)
{
    CORTEXM_TAKES(to);
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(y);
    CORTEXM_TAKES(z);
    CORTEXM_TAKES(n);
#define WORDS(first, second)                                                                       \
    "ldrsb r8, [r3], #1\n"                                                                         \
    "ldrsb " first ", [r1], #1\n"                                                                  \
    "ldrsb " second ", [r2], #1\n"                                                                 \
    "add   " first ", " first ", r8, lsl #21\n"                                                    \
    "add   " second ", " second ", r8, lsl #11\n"
    __asm__ volatile("push  {r4, r5, r6, r7, r8, lr}\n"
                     "ldr   lr, [sp, #24]\n"
                     "lsrs  r7, lr, #1\n" /* carry: n is odd */
                     "bcc   1f\n" WORDS("r4", "r5")
                     "stmia r0!, {r4, r5}\n"
                     "1:\n"
                     "bics  lr, lr, #1\n"
                     "beq   3f\n"
                     "2:\n" WORDS("r4", "r5") WORDS("r6", "r7")
                     "subs  lr, #2\n"
                     "stmia r0!, {r4, r5, r6, r7}\n"
                     "bne   2b\n"
                     "3:\n"
                     "pop   {r4, r5, r6, r7, r8, pc}\n");
#undef WORDS
}

/* conv2d_s8.inc */
CORTEXM_NAKED static void
cortexm_triples_all(const uint32_t *panel, const uint8_t *w, int32_t depth, const uint32_t *start,
                    int32_t sum[12])
{
    CORTEXM_TAKES(panel);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(depth);
    CORTEXM_TAKES(start);
    CORTEXM_TAKES(sum);
#if WEIGHT_BITS == 4
/* Two inputs: their weights are the lower and the upper halves of the bytes of a word. */
#define PRODUCTS(bit, first, second)                                                               \
    "sbfx lr, r12, #" bit ", #4\n"                                                                 \
    "mla  " first ", lr, r2, " first "\n"                                                          \
    "mla  " second ", lr, r3, " second "\n"
#define STEP                                                                                       \
    "ldr   r12, [r1], #4\n"                                                                        \
    "ldmia r0!, {r2, r3}\n" PRODUCTS("0", "r4", "r5") PRODUCTS("8", "r6", "r7")                    \
        PRODUCTS("16", "r8", "r9") PRODUCTS("24", "r10", "r11")                                    \
    "ldmia r0!, {r2, r3}\n" PRODUCTS("4", "r4", "r5") PRODUCTS("12", "r6", "r7")                   \
        PRODUCTS("20", "r8", "r9") PRODUCTS("28", "r10", "r11")
#define CHUNK "1024"
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
    "ldrsb r12, [r1], #1\n"                                                                        \
    "mla  " first ", r12, r2, " first "\n"                                                         \
    "mla  " second ", r12, r3, " second "\n"
#define STEP                                                                                       \
    "ldmia r0!, {r2, r3}\n" PRODUCTS("r4", "r5") PRODUCTS("r6", "r7") PRODUCTS("r8", "r9")         \
        PRODUCTS("r10", "r11")
#define CHUNK "64"
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
    __asm__ volatile("push  {r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "5:\n" /* r0, r1: panel and weights; [sp + 4]: inputs that are left */
                     "ldr   r12, [sp, #8]\n"
                     "ldrd  r4, r5, [r12]\n"
                     "subs  r12, r2, #" CHUNK "\n"
                     "ite   hi\n"
                     "movhi r2, #" CHUNK "\n"
                     "movls r12, #0\n"
                     "str   r12, [sp, #4]\n"
                     "mov   r6, r4\n"
                     "mov   r7, r5\n"
                     "mov   r8, r4\n"
                     "mov   r9, r5\n"
                     "mov   r10, r4\n"
                     "mov   r11, r5\n" LOOP
                     "str   r1, [sp]\n"
                     "mov   lr, r0\n"
                     "ldr   r0, [sp, #48]\n" SEPARATE("r4", "r5", "0", "16", "32")
                         SEPARATE("r6", "r7", "4", "20", "36")
                             SEPARATE("r8", "r9", "8", "24", "40")
                                 SEPARATE("r10", "r11", "12", "28", "44")
                     "mov   r0, lr\n"
                     "ldrd  r1, r2, [sp]\n"
                     "cmp   r2, #0\n"
                     "bne   5b\n"
                     "pop   {r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef SEPARATE
#undef LOOP
#undef CHUNK
#undef STEP
#undef PRODUCTS
}

/* eights.h: three words' sums in r6, r7 and r8 are a, b, c, d in r5, r6, r3, r4, as in scalar.h. */
#define SEPARATE                                                                                   \
    "sub   r3, r6, r8, lsl #8\n"                                                                   \
    "sub   r4, r8, r6, lsl #8\n"                                                                   \
    "uxth  r5, r3\n"                                                                               \
    "uxth  r6, r4\n"                                                                               \
    "add   r3, r5, r3, lsr #16\n"                                                                  \
    "add   r4, r6, r4, lsr #16\n"                                                                  \
    "add   r8, r4, r3, lsl #8\n"                                                                   \
    "subs  r8, r8, r7\n"                                                                           \
    "ubfx  r12, r8, #8, #8\n"                                                                      \
    "uxtb  r8, r8\n"                                                                               \
    "add   r5, r5, r12, lsl #16\n" /* a */                                                         \
    "add   r6, r6, r8, lsl #16\n"  /* b */                                                         \
    "sub   r3, r3, r12\n"                                                                          \
    "sub   r4, r4, r8\n"                                                                           \
    "uxth  r3, r3\n"                                                                               \
    "uxth  r4, r4\n"                                                                               \
    "subs  r7, r7, r4\n"                                                                           \
    "sub   r7, r7, r3, lsl #8\n"                                                                   \
    "sub   r7, r7, r6, lsl #16\n"                                                                  \
    "sub   r7, r7, r5, lsl #24\n"                                                                  \
    "lsr   r12, r7, #24\n"                                                                         \
    "and   r7, r7, #0xff0000\n"                                                                    \
    "add   r3, r3, r12, lsl #16\n" /* c */                                                         \
    "add   r4, r4, r7\n"           /* d */

#ifdef CORTEXM_QUADS_ALL

/* eights.h, for all blocks of four outputs one after the other: inputs and weights come in fours, which
 * takes the registers of a second block's sums, and no time between blocks. The words' bytes are
 * reversed in place, and then the halves swapped.
 *
 * A loop has sixteen inputs; the first begins in its middle. On the stack: the inputs, `start` for
 * each word, where the loop begins, `base`, `sum`, `add`, `next`, `last`. */
CORTEXM_NAKED static void
cortexm_quads_all(const cortexm_quads_t *run, const uint8_t *w, const int32_t *base, int32_t *sum)
{
    CORTEXM_TAKES(run);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(base);
    CORTEXM_TAKES(sum);
#define PRODUCTS(word, x)                                                                          \
    "mla   r6, " word ", " x ", r6\n"                                                              \
    "rev   " word ", " word "\n"                                                                   \
    "mla   r7, " word ", " x ", r7\n"                                                              \
    "ror   " word ", " word ", #16\n"                                                              \
    "mla   r8, " word ", " x ", r8\n"
#if WEIGHT_BITS == 4
#define STEP_BYTES "98"
#define TWO(word, x, y)                                                                            \
    "and   r4, " word ", #0x0f0f0f0f\n" PRODUCTS("r4", x)                                          \
    "lsrs  r4, " word ", #4\n"                                                                     \
    "and   r4, r4, #0x0f0f0f0f\n" PRODUCTS("r4", y)
#define STEP                                                                                       \
    "ldmia r0!, {r9, r10, r11, r12}\n"                                                             \
    "ldmia r1!, {r2, r3}\n" TWO("r2", "r9", "r10") TWO("r3", "r11", "r12")
#else
#define STEP_BYTES "78"
#define STEP                                                                                       \
    "ldmia r0!, {r9, r10, r11, r12}\n"                                                             \
    "ldmia r1!, {r2, r3, r4, r5}\n" PRODUCTS("r2", "r9") PRODUCTS("r3", "r10")                     \
        PRODUCTS("r4", "r11") PRODUCTS("r5", "r12")
#endif
    __asm__ volatile("push  {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "ldm   r0, {r0, r4, r5, r6, r7, r8, r9}\n"
                     "mov   lr, r5\n"
                     "push  {r2, r3, r7, r8, r9}\n"
                     "adr   r9, 3f\n"
                     "subs  r7, r0, lr\n" /* less the inputs, sixteen bytes a step */
                     "beq   6f\n"
                     "adr   r9, 1f\n"
                     "ubfx  r7, r7, #4, #2\n"
                     "movs  r8, #" STEP_BYTES "\n"
                     "mla   r9, r7, r8, r9\n"
                     "6:\n"
                     "orr   r9, r9, #1\n"
                     "mov   r4, r6\n"
                     "mov   r5, r6\n"
                     "push  {r0, r4, r5, r6, r9}\n"
                     "2:\n"
                     "ldm   sp, {r0, r6, r7, r8, pc}\n"
                     ".balign 4\n"
                     "1:\n" STEP STEP STEP STEP
                     "cmp   r0, lr\n"
                     "bne   1b\n"
                     ".balign 4\n"
                     "3:\n" SEPARATE
                     "ldrd  r0, r2, [sp, #20]\n"
                     "ldrd  r9, r10, [sp, #28]\n"
                     "ldmia r0!, {r7, r8, r11, r12}\n"
                     "add   r1, r10\n"
                     "add   r5, r9\n"
                     "add   r6, r9\n"
                     "add   r3, r9\n"
                     "add   r4, r9\n"
                     "add   r5, r7\n"
                     "add   r6, r8\n"
                     "add   r7, r3, r11\n"
                     "add   r8, r4, r12\n"
                     "stmia r2!, {r5, r6, r7, r8}\n"
                     "strd  r0, r2, [sp, #20]\n"
                     "ldr   r3, [sp, #36]\n"
                     "cmp   r2, r3\n"
                     "bne   2b\n"
                     "add   sp, #40\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef STEP
#undef STEP_BYTES
#undef TWO
#undef PRODUCTS
}

#else

/* eights.h. On the stack: `second`, the inputs' end, `add`, `base`, `sum`. The words of each block are
 * separated as in scalar.h, in the same registers, the second one's after the first one's, which leaves
 * `second` 0. */
CORTEXM_NAKED static void
cortexm_quads_sums(const cortexm_quads_t *run, const uint8_t *w, const int32_t *base, int32_t *sum)
{
    CORTEXM_TAKES(run);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(base);
    CORTEXM_TAKES(sum);
#define PRODUCTS(word, x, sum0, sum1, sum2)                                                        \
    "mla   " sum0 ", " word ", " x ", " sum0 "\n"                                                  \
    "rev   lr, " word "\n"                                                                         \
    "rev16 " word ", " word "\n"                                                                   \
    "mla   " sum1 ", lr, " x ", " sum1 "\n"                                                        \
    "mla   " sum2 ", " word ", " x ", " sum2 "\n"
#if WEIGHT_BITS == 4
#define BLOCK(pointer, sum0, sum1, sum2)                                                           \
    "ldr   r4, [" pointer "], #4\n"                                                                \
    "and   r5, r4, #0x0f0f0f0f\n" PRODUCTS("r5", "r3", sum0, sum1, sum2)                           \
    "lsr   r4, r4, #4\n"                                                                           \
    "and   r4, r4, #0x0f0f0f0f\n" PRODUCTS("r4", "r12", sum0, sum1, sum2)
#else
#define BLOCK(pointer, sum0, sum1, sum2)                                                           \
    "ldmia " pointer "!, {r4, r5}\n" PRODUCTS("r4", "r3", sum0, sum1, sum2)                        \
        PRODUCTS("r5", "r12", sum0, sum1, sum2)
#endif
#define LOAD_TWO                                                                                   \
    "ldrsb r3, [r0], #1\n"                                                                         \
    "ldrsb r12, [r0], #1\n"
#define STEP LOAD_TWO BLOCK("r1", "r6", "r7", "r8") BLOCK("r2", "r9", "r10", "r11")
    __asm__ volatile("push  {r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "ldm   r0, {r0, r2, r3, r6, r7}\n"
                     "push  {r2, r3, r7}\n"
                     "add   r2, r1\n"
                     "sub   r12, r3, r0\n"
                     "tst   r12, #4\n"
                     "mov   r7, r6\n"
                     "mov   r8, r6\n"
                     "mov   r9, r6\n"
                     "mov   r10, r6\n"
                     "mov   r11, r6\n"
                     "bne   2f\n"
                     "cmp   r0, r3\n"
                     "beq   5f\n"
                     "1:\n" STEP STEP
                     "2:\n" STEP STEP
                     "ldr   r12, [sp, #4]\n"
                     "cmp   r0, r12\n"
                     "bne   1b\n"
                     "5:\n"
                     "add   r0, sp, #8\n"
                     "ldm   r0, {r0, r1, r2}\n"
                     "3:\n" SEPARATE
                     "ldmia r1!, {r7, r8, r12, lr}\n"
                     "add   r5, r0\n"
                     "add   r6, r0\n"
                     "add   r3, r0\n"
                     "add   r4, r0\n"
                     "add   r5, r7\n"
                     "add   r6, r8\n"
                     "add   r7, r3, r12\n"
                     "add   r8, r4, lr\n"
                     "stmia r2!, {r5, r6, r7, r8}\n"
                     "ldr   r3, [sp]\n"
                     "cbz   r3, 4f\n"
                     "movs  r3, #0\n"
                     "str   r3, [sp]\n"
                     "mov   r6, r9\n"
                     "mov   r7, r10\n"
                     "mov   r8, r11\n"
                     "b     3b\n"
                     "4:\n"
                     "add   sp, #20\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef STEP
#undef LOAD_TWO
#undef BLOCK
#undef PRODUCTS
}

#endif
#undef SEPARATE

#endif

/* depthwise_conv2d.inc, codes of either size: two channels at a time, which takes six registers for sums. */
#if CODE_BITS == 8
#define LOAD_TAP "ldrsb"
#define TAP_BYTES(one, two) one /* of codes of one byte or two */
#else
#define LOAD_TAP "ldrsh"
#define TAP_BYTES(one, two) two
#endif
#define CORTEXM_TAP_THREES
CORTEXM_NAKED static void
cortexm_tap_threes(const ELEMENT *const *tap, const ELEMENT *const *end, int32_t channel,
                   const int8_t *w, const int32_t bias[4], int32_t sum[12])
{
    CORTEXM_TAKES(tap);
    CORTEXM_TAKES(end);
    CORTEXM_TAKES(channel);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(bias);
    CORTEXM_TAKES(sum);
#define PRODUCT(pointer, sum)                                                                      \
    LOAD_TAP " r11, [" pointer ", r2]\n"                                                             \
    "mla   " sum ", r11, r4, " sum "\n"
#define CHANNEL(next, first, second, third)                                                        \
    "ldrsb r4, [r1], #" next "\n" PRODUCT("r3", first) PRODUCT("r12", second) PRODUCT("lr", third)
    __asm__ volatile(TAP_BYTES("", "lsls  r2, r2, #1\n")
                     "push  {r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "1:\n" /* two channels */
                     "ldr   r4, [sp, #52]\n"
                     "ldmia r4!, {r5, r8}\n"
                     "str   r4, [sp, #52]\n"
                     "ldr   r0, [sp]\n"
                     "ldr   r1, [sp, #12]\n"
                     "mov   r6, r5\n"
                     "mov   r7, r5\n"
                     "mov   r9, r8\n"
                     "mov   r10, r8\n"
                     "2:\n"
                     "ldmia r0!, {r3, r12, lr}\n" CHANNEL("1", "r5", "r6", "r7")
                     "adds  r2, #" TAP_BYTES("1", "2") "\n" CHANNEL("3", "r8", "r9", "r10")
                     "subs  r2, #" TAP_BYTES("1", "2") "\n"
                     "ldr   r11, [sp, #4]\n"
                     "cmp   r0, r11\n"
                     "bne   2b\n"
                     "ldrd  r0, r1, [sp, #8]\n"
                     "ldr   r3, [sp, #56]\n"
                     "adds  r1, #2\n"
                     "str   r1, [sp, #12]\n"
                     "strd  r6, r9, [r3, #16]\n"
                     "strd  r7, r10, [r3, #32]\n"
                     "stmia r3!, {r5, r8}\n"
                     "str   r3, [sp, #56]\n"
                     "adds  r2, #" TAP_BYTES("2", "4") "\n"
                     "subs  r0, r2, r0\n"
                     "cmp   r0, #" TAP_BYTES("4", "8") "\n"
                     "bne   1b\n"
                     "add   sp, #16\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef CHANNEL
#undef PRODUCT
#undef TAP_BYTES
#undef LOAD_TAP
}

#endif
