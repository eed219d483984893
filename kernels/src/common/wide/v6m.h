/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of the kernels of int16 codes that are one template for Armv6-M and Armv7-M. v7m.h has
 * the same for the latter; common/codes.h includes a kernel's own. What the words mean stands in the
 * templates: conv2d_s16.inc, depthwise_conv2d.inc, eights.h.
 *
 * Here a product destroys one of its factors, so every product needs one of them anew; the loads of
 * several registers bring that for less than an instruction each.
 */
#ifndef CORTEXM_COMMON_WIDE_V6M_H
#define CORTEXM_COMMON_WIDE_V6M_H

#if !defined(__thumb__)
#error "v6m kernels need a Cortex-M core"
#endif

#include <stdint.h>

#include "common/stamp.h"
#include "common/v6m.h"

/* conv2d: to[5 * k + i] = x[i][k] for n > 0 inputs of five windows, and sum[i] += x[i][k]; returns the
 * end of `to`. */
CORTEXM_NAKED static int32_t *
cortexm_fives_put(int32_t *to, const int16_t *const x[5], int32_t n, int32_t sum[5])
{
    CORTEXM_TAKES(to);
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(sum);
#define ONE(pointer, place, sum)                                                                   \
    "ldrsh r7, [" pointer ", r6]\n"                                                                \
    "str  r7, [r0, #" place "]\n"                                                                  \
    "add  " sum ", r7\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r3, r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "ldmia r3!, {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "ldr  r4, [r3]\n"
                     "mov  r12, r4\n"
                     "lsls r6, r2, #1\n"
                     "mov  r7, r1\n"
                     "ldmia r7!, {r1, r2, r3, r4, r5}\n"
                     "adds r1, r1, r6\n"
                     "adds r2, r2, r6\n"
                     "adds r3, r3, r6\n"
                     "adds r4, r4, r6\n"
                     "adds r5, r5, r6\n"
                     "negs r6, r6\n"
                     "1:\n"
                     ONE("r1", "0", "r8") ONE("r2", "4", "r9") ONE("r3", "8", "r10")
                     ONE("r4", "12", "r11") ONE("r5", "16", "r12")
                     "adds r0, #20\n"
                     "adds r6, #2\n"
                     "bne  1b\n"
                     "ldr  r3, [sp, #16]\n"
                     CORTEXM_HIGH_TO_LOW
                     "stmia r3!, {r4, r5, r6, r7}\n"
                     "mov  r4, r12\n"
                     "str  r4, [r3]\n"
                     "pop  {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r3, r4, r5, r6, r7, pc}\n");
#undef ONE
}

/* conv2d: sum[5 * o + i] = bias[o] + start[i] + sum over n > 0 inputs of panel[5 * k + i] times w[n * o +
 * k], for `count` > 0 outputs o. The first round begins at the step that leaves a whole number of
 * eights. */
CORTEXM_NAKED static void
cortexm_fives(const int32_t *panel, const uint8_t *w, int32_t n, const int32_t start[5],
              const int32_t *bias, int32_t count, int32_t *sum)
{
    CORTEXM_TAKES(panel);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(start);
    CORTEXM_TAKES(bias);
    CORTEXM_TAKES(count);
    CORTEXM_TAKES(sum);
#define STEP(k)                                                                                    \
    "ldrb r2, [r1, #" k "]\n"                                                                      \
    "ldmia r0!, {r3, r4, r5, r6, r7}\n"                                                            \
    "muls r3, r2\n"                                                                                \
    "add  r8, r3\n"                                                                                \
    "muls r4, r2\n"                                                                                \
    "add  r9, r4\n"                                                                                \
    "muls r5, r2\n"                                                                                \
    "add  r10, r5\n"                                                                               \
    "muls r6, r2\n"                                                                                \
    "add  r11, r6\n"                                                                               \
    "muls r7, r2\n"                                                                                \
    "add  r12, r7\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "movs r4, #20\n"
                     "muls r4, r2\n"
                     "adds r4, r0, r4\n"
                     "mov  lr, r4\n" /* the end of the panel */
                     "movs r5, #7\n"
                     "negs r2, r2\n"
                     "ands r2, r5\n" /* steps that the first round leaves out */
                     "subs r1, r1, r2\n"
                     "push {r0, r1, r2, r3}\n"
                     "1:\n"
                     "ldr  r2, [sp, #52]\n"
                     "ldmia r2!, {r3}\n"
                     "str  r2, [sp, #52]\n"
                     "ldr  r2, [sp, #12]\n"
                     "ldmia r2!, {r4, r5, r6, r7}\n"
                     "ldr  r2, [r2]\n"
                     "adds r4, r4, r3\n"
                     "mov  r8, r4\n"
                     "adds r5, r5, r3\n"
                     "mov  r9, r5\n"
                     "adds r6, r6, r3\n"
                     "mov  r10, r6\n"
                     "adds r7, r7, r3\n"
                     "mov  r11, r7\n"
                     "adds r2, r2, r3\n"
                     "mov  r12, r2\n"
                     "ldr  r0, [sp]\n"
                     "ldr  r2, [sp, #8]\n"
                     "cmp  r2, #0\n"
                     "beq  10f\n"
                     "cmp  r2, #4\n"
                     "beq  14f\n"
                     "bhi  2f\n"
                     "cmp  r2, #2\n"
                     "beq  12f\n"
                     "bhi  13f\n"
                     "b    11f\n"
                     "2:\n"
                     "cmp  r2, #6\n"
                     "bhi  17f\n"
                     "beq  16f\n"
                     "b    15f\n"
                     "10:\n" STEP("0")
                     "11:\n" STEP("1")
                     "12:\n" STEP("2")
                     "13:\n" STEP("3")
                     "14:\n" STEP("4")
                     "15:\n" STEP("5")
                     "16:\n" STEP("6")
                     "17:\n" STEP("7")
                     "adds r1, #8\n"
                     "cmp  r0, lr\n"
                     "bne  10b\n"
                     "ldr  r2, [sp, #8]\n"
                     "subs r1, r1, r2\n"
                     "ldr  r2, [sp, #60]\n"
                     "mov  r3, r8\n"
                     "mov  r4, r9\n"
                     "mov  r5, r10\n"
                     "mov  r6, r11\n"
                     "mov  r7, r12\n"
                     "stmia r2!, {r3, r4, r5, r6, r7}\n"
                     "str  r2, [sp, #60]\n"
                     "ldr  r2, [sp, #56]\n"
                     "subs r2, #1\n"
                     "str  r2, [sp, #56]\n"
                     "beq  3f\n"
                     "b    1b\n"
                     "3:\n"
                     "add  sp, #16\n"
                     "pop  {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef STEP
}

/* linear: sum[i] = sum over n > 0 inputs of x[k] * w[8 * k + i], or the nibbles of eights.h. */
CORTEXM_NAKED static void
cortexm_eights(const int16_t *x, const uint8_t *w, int32_t n, int32_t sum[8])
{
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(sum);
#if WEIGHT_BITS == 4
/* The mask of lower halves is on the stack. */
#define LOAD_FIRST                                                                                 \
    "ldr  r4, [r1]\n"                                                                              \
    "ldr  r5, [sp]\n"                                                                              \
    "ands r4, r5\n"
#define LOAD_SECOND                                                                                \
    "ldmia r1!, {r4}\n"                                                                            \
    "lsrs r4, r4, #4\n"                                                                            \
    "ldr  r5, [sp]\n"                                                                              \
    "ands r4, r5\n"
#define PUSH_MASK                                                                                  \
    "movs r4, #15\n"                                                                               \
    "lsls r5, r4, #8\n"                                                                            \
    "orrs r4, r5\n"                                                                                \
    "lsls r5, r4, #16\n"                                                                           \
    "orrs r4, r5\n"                                                                                \
    "push {r4}\n"
#define POP_MASK "pop  {r0}\n"
/* As far as a branch on a condition does not reach. */
#define AGAIN                                                                                      \
    "beq  15f\n"                                                                                   \
    "b    11b\n"                                                                                   \
    "15:\n"
#else
#define LOAD_FIRST "ldmia r1!, {r4}\n"
#define LOAD_SECOND LOAD_FIRST
#define PUSH_MASK
#define POP_MASK
#define AGAIN "bne  11b\n"
#endif
#define BLOCK(load, sum0, sum1, sum2, sum3)                                                        \
    load                                                                                           \
    "lsrs r5, r4, #8\n"                                                                            \
    "muls r5, r3\n"                                                                                \
    "add  " sum1 ", r5\n"                                                                          \
    "lsrs r5, r4, #16\n"                                                                           \
    "muls r5, r3\n"                                                                                \
    "add  " sum2 ", r5\n"                                                                          \
    "lsrs r5, r4, #24\n"                                                                           \
    "muls r5, r3\n"                                                                                \
    "add  " sum3 ", r5\n"                                                                          \
    "muls r4, r3\n"                                                                                \
    "add  " sum0 ", r4\n"
#define STEP                                                                                       \
    "ldrsh r3, [r0, r2]\n" BLOCK(LOAD_FIRST, "r6", "r8", "r9", "r10")                              \
        BLOCK(LOAD_SECOND, "r7", "r11", "r12", "lr")                                               \
    "adds r2, #2\n"
/* The next result is the sum in r2 less 256 times the one in r3. */
#define SEPARATE                                                                                   \
    "lsls r4, r3, #8\n"                                                                            \
    "subs r2, r2, r4\n"                                                                            \
    "stmia r0!, {r2}\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r3, r4, r5, r6, r7}\n"
                     PUSH_MASK
                     "lsls r4, r2, #1\n"
                     "adds r0, r0, r4\n"
                     "negs r4, r4\n"
                     "movs r5, #3\n"
                     "ands r5, r2\n"
                     "movs r2, r4\n" /* from the end of the inputs */
                     "movs r6, #0\n"
                     "movs r7, #0\n"
                     "mov  r8, r6\n"
                     "mov  r9, r6\n"
                     "mov  r10, r6\n"
                     "mov  r11, r6\n"
                     "mov  r12, r6\n"
                     "mov  lr, r6\n"
                     "cmp  r5, #2\n"
                     "beq  13f\n"
                     "bhi  12f\n"
                     "cmp  r5, #0\n"
                     "beq  11f\n"
                     "b    14f\n"
                     "11:\n" STEP
                     "12:\n" STEP
                     "13:\n" STEP
                     "14:\n" STEP
                     AGAIN POP_MASK
                     "pop  {r0}\n"
                     "mov  r2, r6\n"
                     "mov  r3, r8\n" SEPARATE
                     "mov  r2, r8\n"
                     "mov  r3, r9\n" SEPARATE
                     "mov  r2, r9\n"
                     "mov  r3, r10\n" SEPARATE
                     "stmia r0!, {r3}\n"
                     "mov  r2, r7\n"
                     "mov  r3, r11\n" SEPARATE
                     "mov  r2, r11\n"
                     "mov  r3, r12\n" SEPARATE
                     "mov  r2, r12\n"
                     "mov  r3, lr\n" SEPARATE
                     "stmia r0!, {r3}\n"
                     "pop  {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef SEPARATE
#undef STEP
#undef BLOCK
#undef LOAD_SECOND
#undef LOAD_FIRST
#undef PUSH_MASK
#undef POP_MASK
#undef AGAIN
}

/* codes.h. The shift by one more has the rounding in its carry. With a multiplier that is not negative, a
 * negative sum becomes at most 0, so after a ReLU there is nothing to compute. */
#define CORTEXM_PUT_NARROW
CORTEXM_NAKED CORTEXM_SHARED void
cortexm_put_narrow(const cortexm_codes_t *codes, int32_t o, const int32_t *sum, int32_t step,
                   int32_t rows, int16_t *const *out)
{
    CORTEXM_TAKES(codes);
    CORTEXM_TAKES(o);
    CORTEXM_TAKES(sum);
    CORTEXM_TAKES(step);
    CORTEXM_TAKES(rows);
    CORTEXM_TAKES(out);
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "ldmia r0!, {r4, r5, r6, r7}\n"
                     "mov  r10, r6\n" /* low */
                     "mov  r11, r7\n" /* high */
                     "lsls r3, r3, #2\n"
                     "mov  r8, r3\n"
                     "ldrsb r3, [r5, r1]\n"
                     "mvns r3, r3\n" /* -1 - shift */
                     "lsls r6, r1, #1\n"
                     "movs r0, r2\n"
                     "ldrsh r2, [r4, r6]\n"
                     "ldr  r4, [sp, #36]\n"
                     "ldr  r1, [sp, #40]\n"
                     "lsls r4, r4, #2\n"
                     "adds r4, r4, r1\n"
                     "mov  r9, r4\n" /* the end of `out` */
                     "movs r7, #0\n"
                     "1:\n"
                     "ldr  r4, [r0]\n"
                     "uxth r5, r4\n"
                     "asrs r4, r4, #16\n"
                     "bmi  6f\n"
                     "2:\n"
                     "muls r4, r2\n"
                     "muls r5, r2\n"
                     "lsrs r5, r5, #16\n"
                     "adds r4, r4, r5\n"
                     "asrs r4, r3\n"
                     "adcs r4, r7\n"
                     "cmp  r4, r10\n"
                     "blt  7f\n"
                     "cmp  r4, r11\n"
                     "bgt  8f\n"
                     "3:\n"
                     "ldmia r1!, {r5}\n"
                     "strh r4, [r5, r6]\n"
                     "add  r0, r8\n"
                     "cmp  r1, r9\n"
                     "bne  1b\n"
                     "pop  {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n"
                     "6:\n"
                     "cmp  r10, r7\n"
                     "blt  2b\n"
                     "7:\n"
                     "mov  r4, r10\n"
                     "b    3b\n"
                     "8:\n"
                     "mov  r4, r11\n"
                     "b    3b\n");
}

/* The upper half of a sum times a Q15 multiplier: floor(sum * multiplier / 2^16). Of the sum's lower half
 * only the carry counts. */
static inline int32_t cortexm_wide_product(int32_t sum, int32_t multiplier)
{
    return (sum >> 16) * multiplier +
           (int32_t)(((uint32_t)sum & 0xffffu) * (uint32_t)multiplier >> 16);
}

#endif
