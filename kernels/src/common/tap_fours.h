/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the taps of a depthwise window, of four channels at a time. Weights are packed as
 * "tap_fours" (python/cortexm_tools/plan/kernels/packing.py): [channel / 4][tap][4], and [tap][rest] for those that
 * are left. */
#ifndef CORTEXM_COMMON_TAP_FOURS_H
#define CORTEXM_COMMON_TAP_FOURS_H

#include <stdint.h>

#include "common/apart.h"

/* sum[i] = bias[i] + sum over the taps of tap[channel + i] * w[i]. There is at least one tap. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
/* Only loads with two registers extend the sign. So the weights' pointer is kept `channel` below the
 * weights, and the indices channel to channel + 2 serve both. */
__attribute__((naked, noinline, unused)) static void
cortexm_tap_fours(const int8_t *const *tap, const int8_t *const *end, int32_t channel,
                  const int8_t *w, const int32_t bias[4], int32_t sum[4])
{
    (void)tap;
    (void)end;
    (void)channel;
    (void)w;
    (void)bias;
    (void)sum;
#define PRODUCT(index, sum)                                                                        \
    "ldrsb r2, [r3, " index "]\n"                                                                  \
    "ldrsb r7, [r1, " index "]\n"                                                                  \
    "muls r2, r7\n"                                                                                \
    "add  " sum ", r2\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "push {r4, r5, r6, r7}\n"
                     "mov  r12, r1\n" /* the end */
                     "ldr  r1, [sp, #36]\n"
                     "ldmia r1!, {r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
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
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "ldr  r2, [sp, #40]\n"
                     "stmia r2!, {r4, r5, r6, r7}\n"
                     "pop  {r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef PRODUCT
}
#else
static CORTEXM_APART void cortexm_tap_fours(const int8_t *const *tap, const int8_t *const *end,
                                            int32_t channel, const int8_t *w,
                                            const int32_t bias[4], int32_t sum[4])
{
    int32_t sum0 = bias[0];
    int32_t sum1 = bias[1];
    int32_t sum2 = bias[2];
    int32_t sum3 = bias[3];

    do {
        const int8_t *const x = *tap++ + channel;

        sum0 += x[0] * w[0];
        sum1 += x[1] * w[1];
        sum2 += x[2] * w[2];
        sum3 += x[3] * w[3];
        w += 4;
    } while (tap != end);
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}
#endif

#endif
