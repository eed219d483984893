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

#if CODE_BITS == 8

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

/* conv2d_s8.inc. Eight sums in registers, most of which only ADD and MOV can reach: the compiler would not
 * dare. The first chunk is the one that may be short; it begins at the step that leaves a whole number of
 * eights. Its sums are stored with the bias, those of the others added.
 *
 * On the stack: the chunk's end in the panel, what the next one starts at, the panel's end. */
#define CORTEXM_TRIPLES_WITH_BIAS
#define cortexm_triples_all cortexm_triples_all_v6m
CORTEXM_NAKED static void
cortexm_triples_all(const uint32_t *panel, const uint8_t *w, int32_t depth, const uint32_t *start,
                    const int32_t *bias, int32_t sum[12])
{
    CORTEXM_TAKES(panel);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(depth);
    CORTEXM_TAKES(start);
    CORTEXM_TAKES(bias);
    CORTEXM_TAKES(sum);
#define PRODUCTS(offset, half, first, second)                                                      \
    "ldrb r4, [r1, #" offset "]\n" half                                                            \
    "movs r5, r4\n"                                                                                \
    "muls r5, r2\n"                                                                                \
    "add  " first ", r5\n"                                                                         \
    "muls r4, r3\n"                                                                                \
    "add  " second ", r4\n"
/* The last ones of an input, which is needed no more. */
#define LAST_PRODUCTS(offset, half, first, second)                                                 \
    "ldrb r4, [r1, #" offset "]\n" half                                                            \
    "muls r2, r4\n"                                                                                \
    "add  " first ", r2\n"                                                                         \
    "muls r3, r4\n"                                                                                \
    "add  " second ", r3\n"
#define STEP(half, k0, k1, k2, k3)                                                                 \
    "ldmia r0!, {r2, r3}\n" PRODUCTS(k0, half, "r6", "r7") PRODUCTS(k1, half, "r8", "r9")          \
        PRODUCTS(k2, half, "r10", "r11") LAST_PRODUCTS(k3, half, "r12", "lr")
#if WEIGHT_BITS == 4
/* The weights of two inputs are the lower and the upper halves of bytes. */
#define LOWER "lsls r4, r4, #28\n" "lsrs r4, r4, #28\n"
#define UPPER "lsrs r4, r4, #4\n"
#define BEYOND_CHUNK "#22"      /* bits of a count beyond those of one below 1024 */
#define CHUNK_SHIFT "#13"       /* bytes of a chunk of the panel */
#define SKIPPED "lsls r5, r4, #1\n" /* bytes of so many inputs */
#define ENTERED ENTER("6", "16") ENTER("4", "14")
#define STEPS                                                                                      \
    "10:\n" STEP(LOWER, "0", "1", "2", "3") STEP(UPPER, "0", "1", "2", "3")                        \
    "12:\n" STEP(LOWER, "4", "5", "6", "7") STEP(UPPER, "4", "5", "6", "7")                        \
    "14:\n" STEP(LOWER, "8", "9", "10", "11") STEP(UPPER, "8", "9", "10", "11")                    \
    "16:\n" STEP(LOWER, "12", "13", "14", "15") STEP(UPPER, "12", "13", "14", "15")                \
    "adds r1, #16\n"
#define FIRST_ROUND "b    12f\n"
#else
#define BEYOND_CHUNK "#26"
#define CHUNK_SHIFT "#9"
#define SKIPPED "lsls r5, r4, #2\n"
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
#define ENTER(left_out, step) "cmp  r4, #" left_out "\n" "bne  1f\n" "b    " step "f\n" "1:\n"
#define START_ALL                                                                                  \
    "mov  r8, r6\n"                                                                                \
    "mov  r9, r7\n"                                                                                \
    "mov  r10, r6\n"                                                                               \
    "mov  r11, r7\n"                                                                               \
    "mov  r12, r6\n"                                                                               \
    "mov  lr, r7\n"
/* r6, r7 and r2: the three sums of both words. */
#define SEPARATE                                                                                   \
    "lsrs r2, r6, #21\n"                                                                           \
    "lsls r6, r6, #11\n"                                                                           \
    "lsrs r6, r6, #11\n"                                                                           \
    "lsls r3, r2, #11\n"                                                                           \
    "subs r7, r7, r3\n"                                                                            \
    "lsrs r3, r7, #22\n"                                                                           \
    "lsls r7, r7, #10\n"                                                                           \
    "lsrs r7, r7, #10\n"                                                                           \
    "lsls r3, r3, #11\n"                                                                           \
    "adds r2, r2, r3\n"
#define PUT_SUMS                                                                                   \
    SEPARATE                                                                                       \
    "ldmia r4!, {r3}\n"                                                                            \
    "subs r3, r3, r5\n"                                                                            \
    "adds r6, r6, r3\n"                                                                            \
    "adds r7, r7, r3\n"                                                                            \
    "adds r2, r2, r3\n"                                                                            \
    "stmia r0!, {r6}\n"                                                                            \
    "str  r7, [r0, #12]\n"                                                                         \
    "str  r2, [r0, #28]\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "subs r2, #1\n"
                     "lsls r4, r2, " BEYOND_CHUNK "\n"
                     "lsrs r4, r4, " BEYOND_CHUNK "\n"
                     "subs r5, r2, r4\n" /* inputs of the other chunks */
                     "adds r4, #1\n"
                     "lsls r2, r4, #3\n"
                     "adds r2, r0, r2\n"
                     "lsls r5, r5, #3\n"
                     "adds r5, r2, r5\n"
                     "ldmia r3!, {r6, r7}\n"
                     "push {r2, r3, r5}\n"
                     "negs r4, r4\n"
                     "movs r5, #7\n"
                     "ands r4, r5\n" /* steps that the first round leaves out */
                     SKIPPED
                     "subs r1, r1, r5\n" START_ALL
                     "cmp  r4, #0\n"
                     "beq  10f\n" ENTERED FIRST_ROUND STEPS);
    /* In two, as C guarantees a string only 4,095 characters. */
    __asm__ volatile("ldr  r2, [sp]\n"
                     "cmp  r0, r2\n"
                     "beq  2f\n"
                     "b    10b\n"
                     "2:\n"
                     "push {r0, r1}\n"
                     "ldr  r4, [sp, #56]\n"
                     "cmp  r4, #0\n"
                     "beq  5f\n"
                     /* For each chunk 2^20 - 1 are subtracted from the bias (CORTEXM_TRIPLE_OFFSET). */
                     "ldr  r5, [sp, #16]\n"
                     "subs r5, r5, r0\n"
                     "lsrs r5, r5, " CHUNK_SHIFT "\n"
                     "adds r3, r5, #1\n"
                     "lsls r5, r3, #20\n"
                     "subs r5, r5, r3\n"
                     "ldr  r0, [sp, #60]\n" PUT_SUMS
                     "mov  r6, r8\n"
                     "mov  r7, r9\n" PUT_SUMS
                     "mov  r6, r10\n"
                     "mov  r7, r11\n" PUT_SUMS
                     "mov  r6, r12\n"
                     "mov  r7, lr\n" PUT_SUMS
                     "3:\n"
                     "pop  {r0, r1, r2, r3}\n" /* the next chunk's start in r3 */
                     "ldr  r2, [sp]\n"
                     "cmp  r0, r2\n"
                     "beq  4f\n"
                     "ldmia r3!, {r6, r7}\n"
                     "movs r2, #1\n"
                     "lsls r2, r2, " CHUNK_SHIFT "\n"
                     "adds r2, r0, r2\n"
                     "push {r2, r3}\n"
                     "movs r2, #0\n"
                     "str  r2, [sp, #48]\n" /* no bias any more */ START_ALL
                     "b    10b\n"
                     "4:\n"
                     "pop  {r3, r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n"
                     "5:\n"
                     "ldr  r0, [sp, #60]\n"
                     "mov  r1, r12\n"
                     "mov  r5, lr\n"
                     "bl   6f\n"
                     "mov  r6, r8\n"
                     "mov  r7, r9\n"
                     "bl   6f\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "bl   6f\n"
                     "movs r6, r1\n"
                     "movs r7, r5\n"
                     "bl   6f\n"
                     "b    3b\n"
                     /* The sums of r6 and r7 are added to [r0], [r0 + 16] and [r0 + 32]. */
                     "6:\n" SEPARATE
                     "ldr  r3, [r0]\n"
                     "adds r6, r6, r3\n"
                     "ldr  r3, [r0, #16]\n"
                     "adds r7, r7, r3\n"
                     "ldr  r3, [r0, #32]\n"
                     "adds r2, r2, r3\n"
                     "stmia r0!, {r6}\n"
                     "str  r7, [r0, #12]\n"
                     "str  r2, [r0, #28]\n"
                     "bx   lr\n");
#undef PUT_SUMS
#undef SEPARATE
#undef START_ALL
#undef STEPS
#undef FIRST_ROUND
#undef ENTERED
#undef ENTER
#undef SKIPPED
#undef CHUNK_SHIFT
#undef BEYOND_CHUNK
#undef STEP
#undef LAST_PRODUCTS
#undef PRODUCTS
#undef UPPER
#undef LOWER
}

#endif

/* depthwise_conv2d.inc, codes of either size: two channels at a time, which takes six registers for sums.
 * Only loads with two registers extend the sign: the weights' pointer is kept `channel` below the
 * weights, so that one index serves all; of codes of two bytes it goes down as the index goes up. */
#if CODE_BITS == 8
#define LOAD_TAP "ldrsb"
#define TAP_BYTES(one, two) one /* of codes of one byte or two */
#define TO_SECOND "adds r6, #1\n"
#define TO_FIRST "subs r6, #1\n"
#else
#define LOAD_TAP "ldrsh"
#define TAP_BYTES(one, two) two
#define TO_SECOND "adds r6, #2\n" "subs r1, #1\n"
#define TO_FIRST "subs r6, #2\n" "adds r1, #1\n"
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
    LOAD_TAP " r7, [" pointer ", r6]\n"                                                              \
    "muls r7, r2\n"                                                                                \
    "add  " sum ", r7\n"
#define CHANNEL(first, second, third)                                                              \
    "ldrsb r2, [r1, r6]\n" PRODUCT("r3", first) PRODUCT("r4", second) PRODUCT("r5", third)
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     TAP_BYTES("", "lsls r2, r2, #1\n")
                     CORTEXM_HIGH_TO_LOW
                     "push {r0, r1, r2, r4, r5, r6, r7}\n"
                     "movs r6, r2\n"
                     "subs r3, r3, r2\n" /* what r6 is to be added to: the same for other channels */
                     "1:\n" /* two channels */
                     "ldr  r1, [sp, #48]\n"
                     "ldmia r1!, {r4, r5}\n"
                     "str  r1, [sp, #48]\n"
                     "mov  r8, r4\n"
                     "mov  r9, r4\n"
                     "mov  r10, r4\n"
                     "mov  r11, r5\n"
                     "mov  r12, r5\n"
                     "mov  lr, r5\n"
                     "ldr  r0, [sp]\n"
                     "movs r1, r3\n"
                     "push {r3}\n"
                     "ldr  r2, [sp, #8]\n"
                     "subs r2, r2, r0\n"
                     "lsls r2, r2, #29\n"
                     "bpl  2f\n"
                     TO_SECOND /* an odd number of taps */
                     "b    3f\n"
                     "2:\n"
                     "ldmia r0!, {r3, r4, r5}\n" CHANNEL("r8", "r9", "r10")
                     TO_SECOND CHANNEL("r11", "r12", "lr")
                     "adds r1, #4\n"
                     "3:\n" /* the second channel first, as r6 stands there */
                     "ldmia r0!, {r3, r4, r5}\n" CHANNEL("r11", "r12", "lr")
                     TO_FIRST CHANNEL("r8", "r9", "r10")
                     "adds r1, #4\n"
                     "ldr  r2, [sp, #8]\n"
                     "cmp  r0, r2\n"
                     "bne  2b\n"
                     "pop  {r3}\n"
                     "ldr  r0, [sp, #52]\n"
                     "mov  r4, r8\n"
                     "mov  r5, r11\n"
                     "stmia r0!, {r4, r5}\n"
                     "str  r0, [sp, #52]\n"
                     "mov  r4, r9\n"
                     "mov  r5, r12\n"
                     "str  r4, [r0, #8]\n"
                     "str  r5, [r0, #12]\n"
                     "mov  r4, r10\n"
                     "mov  r5, lr\n"
                     "str  r4, [r0, #24]\n"
                     "str  r5, [r0, #28]\n"
                     "adds r6, #" TAP_BYTES("2", "4") "\n"
                     TAP_BYTES("", "subs r3, #2\n")
                     "ldr  r2, [sp, #8]\n"
                     "subs r2, r6, r2\n"
                     "cmp  r2, #" TAP_BYTES("4", "8") "\n"
                     "bne  1b\n"
                     "add  sp, #12\n"
                     "pop  {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef CHANNEL
#undef PRODUCT
#undef TO_FIRST
#undef TO_SECOND
#undef TAP_BYTES
#undef LOAD_TAP
}

#if CODE_BITS == 8

#include "common/quads_v6m.h"

/* r5, r4: upper and lower half of the multiplier of channel r3, of those at r2. That of weights of 4 bits has
 * no lower half. */
#if WEIGHT_BITS == 4
#define MULTIPLIER_LOG2 "#1"
#define LOAD_MULTIPLIER                                                                            \
    "lsls r5, r3, #1\n"                                                                            \
    "ldrh r5, [r2, r5]\n"
#define MULTIPLY_SMALL "muls r1, r5\n"
#define MULTIPLY_HALVES                                                                            \
    "movs r1, r7\n"                                                                                \
    "muls r1, r5\n"                                                                                \
    "add  r1, r12\n"
#else
#define MULTIPLIER_LOG2 "#2"
#define LOAD_MULTIPLIER                                                                            \
    "lsls r4, r3, #2\n"                                                                            \
    "ldr  r4, [r2, r4]\n"                                                                          \
    "lsrs r5, r4, #16\n"                                                                           \
    "uxth r4, r4\n"
/* r1: the product of a value of 16 bits, by way of r2 */
#define MULTIPLY_SMALL                                                                             \
    "movs r2, r1\n"                                                                                \
    "muls r2, r4\n"                                                                                \
    "lsrs r2, r2, #16\n"                                                                           \
    "muls r1, r5\n"                                                                                \
    "adds r1, r1, r2\n"
/* r1: all but the product of the upper halves; r2 and r7: upper and lower half of a value */
#define MULTIPLY_HALVES                                                                            \
    "movs r1, r7\n"                                                                                \
    "muls r7, r4\n"                                                                                \
    "lsrs r7, r7, #16\n"                                                                           \
    "muls r1, r5\n"                                                                                \
    "adds r1, r1, r7\n"                                                                            \
    "movs r7, r2\n"                                                                                \
    "muls r7, r4\n"                                                                                \
    "adds r1, r1, r7\n"                                                                            \
    "add  r1, r12\n"
#endif
#define ADD_UPPER                                                                                  \
    "muls r2, r5\n"                                                                                \
    "adds r2, r2, r2\n"                                                                            \
    "adds r1, r1, r2\n"
#define CODE_OF_HIGH                                                                               \
    "movs r2, r6\n"                                                                                \
    "subs r2, #15\n"                                                                               \
    "ldr  r7, [sp, #20]\n"                                                                         \
    "asrs r1, r2\n"                                                                                \
    "adcs r1, r7\n"

/* common/codes.h. A value from 0 to 2^16 - 1 has no upper half to multiply, and both of its
 * shifts are one, by 15 - shift bits, the last of which is the carry (docs/numerics.md). A negative value
 * becomes at most the zero point, so if that is -128, as after a ReLU, there is nothing to compute.
 *
 * Three rows are made together (r8 to r10: where their codes of channel o go; r3: the channel, less o),
 * others one after the other, of four channels or all of one row (r11). On the stack: o, the rows that
 * are left, `out`, multipliers, shifts, the zero point. */
CORTEXM_NAKED CORTEXM_SHARED void
cortexm_simple_codes(const cortexm_codes_t *codes, int32_t o, const int32_t *value, int32_t rows,
                     int8_t *const *out)
{
    CORTEXM_TAKES(codes);
    CORTEXM_TAKES(o);
    CORTEXM_TAKES(value);
    CORTEXM_TAKES(rows);
    CORTEXM_TAKES(out);
#define CODE(offset, to, large, done)                                                              \
    "ldr  r1, [r0, #" offset "]\n"                                                                 \
    "asrs r2, r1, #16\n"                                                                           \
    "bne  " large "f\n" MULTIPLY_SMALL                                                             \
    "add  r1, r12\n"                                                                               \
    "asrs r1, r6\n"                                                                                \
    "adcs r1, r7\n"                                                                                \
    "cmp  r1, #127\n"                                                                              \
    "ble  " done "f\n"                                                                             \
    "movs r1, #127\n" done ":\n"                                                                   \
    "mov  r2, " to "\n"                                                                            \
    "strb r1, [r2, r3]\n"
#define NEXT_CHANNEL(end)                                                                          \
    "adds r3, #1\n"                                                                                \
    "adds r0, #4\n"                                                                                \
    "cmp  r3, " end "\n"                                                                           \
    "bne  1b\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "ldr  r4, [sp, #36]\n"
                     "ldmia r0!, {r5, r6, r7}\n"
                     "lsls r0, r1, " MULTIPLIER_LOG2 "\n"
                     "adds r5, r5, r0\n"
                     "adds r6, r6, r1\n"
                     "push {r1, r3, r4, r5, r6, r7}\n"
                     "movs r0, #1\n"
                     "lsls r0, r0, #14\n"
                     "mov  r12, r0\n"
                     "movs r0, r2\n"
                     "cmp  r3, #3\n"
                     "bne  9f\n"
                     "ldmia r4!, {r5, r6}\n"
                     "ldr  r4, [r4]\n"
                     "adds r5, r5, r1\n"
                     "mov  r8, r5\n"
                     "adds r6, r6, r1\n"
                     "mov  r9, r6\n"
                     "adds r4, r4, r1\n"
                     "mov  r10, r4\n"
                     "movs r3, #0\n"
                     "1:\n" /* a channel */
                     "ldr  r2, [sp, #16]\n"
                     "ldrb r6, [r2, r3]\n"
                     "ldr  r2, [sp, #12]\n" LOAD_MULTIPLIER
                     "movs r2, #15\n"
                     "subs r6, r2, r6\n" CODE("0", "r8", "11", "21")
                     "cmp  r3, r9\n"
                     "bhs  2f\n" CODE("16", "r9", "12", "22") CODE("32", "r10", "13", "23")
                         NEXT_CHANNEL("#4")
                     "b    4f\n"
                     "2:\n" NEXT_CHANNEL("r11")
                     "3:\n" /* the next row alone */
                     "ldr  r1, [sp, #4]\n"
                     "subs r1, #1\n"
                     "bmi  4f\n"
                     "str  r1, [sp, #4]\n"
                     "ldr  r2, [sp, #8]\n"
                     "ldmia r2!, {r3}\n"
                     "str  r2, [sp, #8]\n"
                     "ldr  r1, [sp]\n"
                     "adds r3, r3, r1\n"
                     "mov  r8, r3\n"
                     "movs r3, #0\n"
                     "b    1b\n"
                     "9:\n"
                     "movs r2, #4\n"
                     "cmp  r3, r2\n"
                     "blo  10f\n"
                     "movs r2, r3\n"
                     "movs r3, #1\n"
                     "str  r3, [sp, #4]\n"
                     "10:\n"
                     "mov  r11, r2\n"
                     "movs r2, #0\n"
                     "mov  r9, r2\n" /* no row's place */
                     "b    3b\n"
                     "4:\n"
                     "add  sp, #24\n"
                     "pop  {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n"
                     "11:\n"
                     "bl   5f\n"
                     "b    21b\n"
                     "12:\n"
                     "bl   5f\n"
                     "b    22b\n"
                     "13:\n"
                     "bl   5f\n"
                     "b    23b\n"
                     /* The code of any other value, whose upper half is in r2. With its halves V and v, and
                      * those of the multiplier, M and m, what follows of h is the floor of
                      * (V m + v M + (v m >> 16) + 2^14) / 2^15: a sum below 2^32, or if V is negative in
                      * [-2^31, 2^31). */
                     "5:\n"
                     "bmi  6f\n"
                     "uxth r7, r1\n"
                     MULTIPLY_HALVES
                     "lsrs r1, r1, #15\n"
                     ADD_UPPER
                     CODE_OF_HIGH
                     "cmp  r1, #127\n"
                     "ble  7f\n"
                     "movs r1, #127\n"
                     "7:\n"
                     "bx   lr\n"
                     "6:\n"
                     "adds r7, #128\n"
                     "beq  8f\n"
                     "uxth r7, r1\n"
                     MULTIPLY_HALVES
                     "asrs r1, r1, #15\n"
                     ADD_UPPER
                     "subs r1, #1\n"
                     CODE_OF_HIGH
                     "movs r2, r1\n"
                     "adds r2, #128\n"
                     "bpl  7b\n"
                     "movs r1, #128\n"
                     "bx   lr\n"
                     "8:\n"
                     "movs r1, #128\n"
                     "subs r7, #128\n"
                     "bx   lr\n");
#undef NEXT_CHANNEL
#undef CODE
}
#define CORTEXM_SIMPLE_CODES
#undef MULTIPLIER_LOG2
#undef LOAD_MULTIPLIER
#undef MULTIPLY_SMALL
#undef MULTIPLY_HALVES
#undef ADD_UPPER
#undef CODE_OF_HIGH

#endif

#endif
