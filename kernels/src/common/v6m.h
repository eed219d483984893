/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routines of scalar.h for Armv6-M and the Armv8-M Baseline, which have the 16-bit instructions of
 * Thumb: eight registers for most of them, products of 32 bits, loads that extend the sign only from
 * the sum of two registers.
 */
#ifndef CORTEXM_COMMON_V6M_H
#define CORTEXM_COMMON_V6M_H

#if !defined(__thumb__)
#error "v6m kernels need a Cortex-M core"
#endif

#include <stdint.h>

#include "common/stamp.h"

CORTEXM_NAKED static uint32_t *
cortexm_triples_put(uint32_t *to, const int8_t *x, const int8_t *y, const int8_t *z, int32_t n)
{
    CORTEXM_TAKES(to);
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(y);
    CORTEXM_TAKES(z);
    CORTEXM_TAKES(n);
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

CORTEXM_NAKED static void
cortexm_triples_sum(const uint32_t *panel, int32_t n, uint32_t sum[2])
{
    CORTEXM_TAKES(panel);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(sum);
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

/* Eight sums in registers, most of which only ADD and MOV can reach: the compiler would not dare.
 * The first round begins at the step that leaves a whole number of eights. */
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
/* The weights of two inputs are the lower and the upper halves of bytes. */
#define LOWER "lsls r4, r4, #28\n" "lsrs r4, r4, #28\n"
#define UPPER "lsrs r4, r4, #4\n"
#endif
#define PRODUCTS(offset, half, first, second)                                                      \
    "ldrb r4, [r1, #" offset "]\n" half                                                            \
    "movs r5, r4\n"                                                                                \
    "muls r5, r2\n"                                                                                \
    "add  " first ", r5\n"                                                                         \
    "muls r4, r3\n"                                                                                \
    "add  " second ", r4\n"
#define ENTER(left_out, step) "cmp  r5, #" left_out "\n" "bne  1f\n" "b    " step "f\n" "1:\n"
#define STEP(half, k0, k1, k2, k3)                                                                 \
    "ldmia r0!, {r2, r3}\n" PRODUCTS(k0, half, "r6", "r7") PRODUCTS(k1, half, "r8", "r9")          \
        PRODUCTS(k2, half, "r10", "r11") PRODUCTS(k3, half, "r12", "lr")
#if WEIGHT_BITS == 4
#define SKIPPED "lsls r4, r5, #1\n" /* bytes of so many inputs */
#define ENTERED ENTER("6", "16") ENTER("4", "14")
#define STEPS                                                                                      \
    "10:\n" STEP(LOWER, "0", "1", "2", "3") STEP(UPPER, "0", "1", "2", "3")                        \
    "12:\n" STEP(LOWER, "4", "5", "6", "7") STEP(UPPER, "4", "5", "6", "7")                        \
    "14:\n" STEP(LOWER, "8", "9", "10", "11") STEP(UPPER, "8", "9", "10", "11")                    \
    "16:\n" STEP(LOWER, "12", "13", "14", "15") STEP(UPPER, "12", "13", "14", "15")                \
    "adds r1, #16\n"
#define FIRST_ROUND "b    12f\n"
#else
#define SKIPPED "lsls r4, r5, #2\n"
#define ENTERED                                                                                    \
    ENTER("7", "17") ENTER("6", "16") ENTER("5", "15") ENTER("4", "14") ENTER("3", "13")           \
        ENTER("2", "12")
#define STEPS                                                                                      \
    "10:\n" STEP("", "0", "1", "2", "3")                                                           \
    "11:\n" STEP("", "4", "5", "6", "7")                                                           \
    "12:\n" STEP("", "8", "9", "10", "11")                                                         \
    "13:\n" STEP("", "12", "13", "14", "15")                                                       \
    "14:\n" STEP("", "16", "17", "18", "19")                                                       \
    "15:\n" STEP("", "20", "21", "22", "23")                                                       \
    "16:\n" STEP("", "24", "25", "26", "27")                                                       \
    "17:\n" STEP("", "28", "29", "30", "31")                                                       \
    "adds r1, #32\n"
#define FIRST_ROUND "b    11f\n"
#endif
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
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "lsls r4, r2, #3\n"
                     "adds r4, r0, r4\n"
                     "push {r4}\n" /* the end of the panel */
                     "movs r4, #7\n"
                     "negs r5, r2\n"
                     "ands r5, r4\n" /* steps that the first round leaves out */
                     SKIPPED
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
                     ENTERED FIRST_ROUND STEPS);
    /* In two, as C guarantees a string only 4,095 characters. */
    __asm__ volatile("ldr  r2, [sp]\n"
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
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef SEPARATE
#undef FIRST_ROUND
#undef STEPS
#undef ENTERED
#undef SKIPPED
#undef STEP
#undef ENTER
#undef PRODUCTS
#undef UPPER
#undef LOWER
}

/* Only loads with two registers extend the sign. So the weights' pointer is kept `channel` below the
 * weights, and the indices channel to channel + 2 serve both. */
CORTEXM_NAKED static void
cortexm_tap_fours(const int8_t *const *tap, const int8_t *const *end, int32_t channel,
                  const int8_t *w, const int32_t bias[4], int32_t sum[4])
{
    CORTEXM_TAKES(tap);
    CORTEXM_TAKES(end);
    CORTEXM_TAKES(channel);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(bias);
    CORTEXM_TAKES(sum);
#define PRODUCT(index, sum)                                                                        \
    "ldrsb r2, [r3, " index "]\n"                                                                  \
    "ldrsb r7, [r1, " index "]\n"                                                                  \
    "muls r2, r7\n"                                                                                \
    "add  " sum ", r2\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "mov  r12, r1\n" /* the end */
                     "ldr  r1, [sp, #36]\n"
                     "ldmia r1!, {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "subs r1, r3, r2\n"
                     "movs r4, r2\n"
                     "adds r5, r2, #1\n"
                     "adds r6, r2, #2\n"
                     "1:\n"
                     "ldmia r0!, {r3}\n"
                     PRODUCT("r4", "r8") PRODUCT("r5", "r9") PRODUCT("r6", "r10")
                     "adds r3, #1\n"
                     "adds r1, #1\n"
                     PRODUCT("r6", "r11")
                     "adds r1, #3\n"
                     "cmp  r0, r12\n"
                     "bne  1b\n"
                     CORTEXM_HIGH_TO_LOW
                     "ldr  r2, [sp, #40]\n"
                     "stmia r2!, {r4, r5, r6, r7}\n"
                     "pop  {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef PRODUCT
}

CORTEXM_NAKED static void
cortexm_quads_add(const int8_t *x, const uint8_t *w, int32_t n, uint32_t T[6], int32_t second)
{
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(T);
    CORTEXM_TAKES(second);
#define BLOCK(pointer, offset, half, sum0, sum1, sum2)                                             \
    "ldr  r5, [" pointer ", #" offset "]\n" half                                                   \
    "rev  r4, r5\n"                                                                                \
    "muls r4, r3\n"                                                                                \
    "add  " sum1 ", r4\n"                                                                          \
    "rev16 r4, r5\n"                                                                               \
    "muls r4, r3\n"                                                                                \
    "add  " sum2 ", r4\n"                                                                          \
    "muls r5, r3\n"                                                                                \
    "add  " sum0 ", r5\n"
#define STEP(k, offset, half)                                                                      \
    "ldrb r3, [r0, #" k "]\n"                                                                      \
    "sxtb r3, r3\n" BLOCK("r1", offset, half, "r6", "r7", "r8")                                    \
        BLOCK("r2", offset, half, "r9", "r10", "r11")
#if WEIGHT_BITS == 4
#define LOWER "mov  r4, lr\n" "ands r5, r4\n"
#define UPPER "lsrs r5, r5, #4\n" LOWER
#define PREPARE "ldr  r4, 9f\n" "mov  lr, r4\n"
#define LITERALS ".balign 4\n" "9: .word 0x0f0f0f0f\n"
#define STEPS                                                                                      \
    STEP("0", "0", LOWER) STEP("1", "0", UPPER) STEP("2", "4", LOWER) STEP("3", "4", UPPER)        \
    "adds r1, #8\n"                                                                                \
    "adds r2, #8\n"
#else
#define PREPARE
#define LITERALS
#define STEPS                                                                                      \
    STEP("0", "0", "") STEP("1", "4", "") STEP("2", "8", "") STEP("3", "12", "")                   \
    "adds r1, #16\n"                                                                               \
    "adds r2, #16\n"
#endif
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
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
                     PREPARE "1:\n" STEPS
                     "adds r0, #4\n"
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
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n" LITERALS);
#undef LITERALS
#undef STEPS
#undef PREPARE
#undef UPPER
#undef LOWER
#undef STEP
#undef BLOCK
}

/* r2 and r1: upper and lower half of a value; r1 becomes its high product with the multiplier,
 * cortexm_high_mul_narrow's. That of weights of 4 bits has no lower half. */
#if WEIGHT_BITS == 4
#define LOAD_MULTIPLIER                                                                            \
    "ldrh r5, [r1]\n"                                                                              \
    "adds r1, #2\n"
#define MULTIPLY_UPPER
#define MULTIPLY_SMALL "muls r1, r5\n"
#define MULTIPLY_LOWER "muls r1, r5\n"
#define ADD_UPPER "muls r2, r5\n"
#else
/* r5, r4: upper and lower half of the multiplier */
#define LOAD_MULTIPLIER                                                                            \
    "ldmia r1!, {r4}\n"                                                                            \
    "lsrs r5, r4, #16\n"                                                                           \
    "uxth r4, r4\n"
/* r3: `first` of cortexm_high_mul_narrow */
#define MULTIPLY_UPPER                                                                             \
    "movs r3, r1\n"                                                                                \
    "muls r3, r4\n"                                                                                \
    "lsrs r3, r3, #16\n"                                                                           \
    "movs r7, r2\n"                                                                                \
    "muls r7, r4\n"                                                                                \
    "adds r3, r3, r7\n"
/* Both, where the upper half of the value is 0. */
#define MULTIPLY_SMALL                                                                             \
    "movs r3, r1\n"                                                                                \
    "muls r3, r4\n"                                                                                \
    "lsrs r3, r3, #16\n"                                                                           \
    "muls r1, r5\n"                                                                                \
    "adds r1, r1, r3\n"
/* r1: `second` */
#define MULTIPLY_LOWER                                                                             \
    "muls r1, r5\n"                                                                                \
    "uxth r7, r3\n"                                                                                \
    "adds r1, r1, r7\n"
#define ADD_UPPER                                                                                  \
    "muls r2, r5\n"                                                                                \
    "asrs r3, r3, #16\n"                                                                           \
    "adds r2, r2, r3\n"
#endif

/* As the compiler would do it, but for the saturation, and with an output's constants prepared once.
 * A negative value becomes at most
 * the zero point, so if that is -128, as after a ReLU, there is nothing to compute. One from 0 to
 * 2^16 - 1 has no upper half to multiply. */
CORTEXM_NAKED CORTEXM_SHARED void
cortexm_simple_codes(int32_t *value, const MULTIPLIER *multiplier, const int8_t *shift,
                     int32_t twice_zero_point_plus_one, int32_t rows)
{
    CORTEXM_TAKES(value);
    CORTEXM_TAKES(multiplier);
    CORTEXM_TAKES(shift);
    CORTEXM_TAKES(twice_zero_point_plus_one);
    CORTEXM_TAKES(rows);
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "mov  r9, r1\n"
                     "mov  r10, r2\n"
                     "mov  r11, r3\n"
                     "movs r1, #1\n"
                     "lsls r1, r1, #14\n"
                     "mov  r12, r1\n"
                     "ldr  r1, [sp, #36]\n"
                     "lsls r1, r1, #4\n"  /* bytes from one row's value to the last one's end */
                     "adds r2, r0, #7\n"
                     "adds r2, #9\n"      /* the end of the outputs */
                     "mov  lr, r2\n"
                     "push {r1}\n"
                     "1:\n"
                     "ldr  r1, [sp]\n"
                     "adds r1, r0, r1\n"
                     "mov  r8, r1\n" /* the end of an output's values */
                     "mov  r1, r9\n"
                     LOAD_MULTIPLIER
                     "mov  r9, r1\n"
                     "mov  r1, r10\n"
                     "ldrb r6, [r1]\n"
                     "adds r1, #1\n"
                     "mov  r10, r1\n"
                     "mvns r6, r6\n" /* -1 - shift */
                     "2:\n"
                     "ldr  r1, [r0]\n"
                     "asrs r2, r1, #16\n" /* r2, r1: of the value */
                     "bmi  5f\n"
                     "beq  7f\n"
                     "3:\n"
                     "uxth r1, r1\n"
                     MULTIPLY_UPPER
                     MULTIPLY_LOWER
                     "add  r1, r12\n"
                     "asrs r1, r1, #15\n"
                     ADD_UPPER
                     "adds r2, r2, r2\n"
                     "adds r1, r1, r2\n" /* h */
                     "asrs r2, r1, #31\n"
                     "adds r1, r1, r2\n"
                     "8:\n"
                     "asrs r1, r6\n"
                     "add  r1, r11\n"
                     "asrs r1, r1, #1\n"
                     "sxtb r2, r1\n"
                     "cmp  r1, r2\n"
                     "bne  6f\n"
                     "4:\n"
                     "str  r1, [r0]\n"
                     "adds r0, #16\n"
                     "cmp  r0, r8\n"
                     "bne  2b\n"
                     "ldr  r1, [sp]\n"
                     "subs r0, r0, r1\n"
                     "adds r0, #4\n"
                     "cmp  r0, lr\n"
                     "bne  1b\n"
                     "pop  {r3, r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n"
                     "5:\n" /* negative */
                     "mov  r3, r11\n"
                     "adds r3, #255\n"
                     "bne  3b\n"
                     "movs r1, #127\n"
                     "mvns r1, r1\n"
                     "b    4b\n"
                     "6:\n" /* to 127 or, if negative, to ~127 */
                     "asrs r1, r1, #31\n"
                     "movs r2, #127\n"
                     "eors r1, r2\n"
                     "b    4b\n"
                     "7:\n" /* below 2^16: the upper half is 0 */
                     MULTIPLY_SMALL
                     "add  r1, r12\n"
                     "asrs r1, r1, #15\n"
                     "b    8b\n");
}
#undef LOAD_MULTIPLIER
#undef MULTIPLY_UPPER
#undef MULTIPLY_LOWER
#undef MULTIPLY_SMALL
#undef ADD_UPPER

#endif
