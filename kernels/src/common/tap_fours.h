/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the taps of a depthwise window, of four channels at a time. Weights are packed as
 * "tap_fours" (python/cortexm_tools/plan/pack.py): [channel / 4][tap][4]. */
#ifndef CORTEXM_COMMON_TAP_FOURS_H
#define CORTEXM_COMMON_TAP_FOURS_H

#include <stdint.h>

/* sum[i] = sum over the taps of tap[channel + i] * w[i]; returns the weights that follow. There is
 * at least one tap. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
/* Armv6-M has eight registers for arithmetic, all of which are needed here. */
__attribute__((naked, noinline)) static const int8_t *
cortexm_tap_fours(const int8_t *const *tap, const int8_t *const *end, int32_t channel,
                  const int8_t *w, int32_t sum[4])
{
    (void)tap;
    (void)end;
    (void)channel;
    (void)w;
    (void)sum;
#define PRODUCT(i, sum)                                                                            \
    "ldrb r2, [r0, #" i "]\n"                                                                      \
    "ldrb r3, [r1, #" i "]\n"                                                                      \
    "sxtb r2, r2\n"                                                                                \
    "sxtb r3, r3\n"                                                                                \
    "muls r2, r3\n"                                                                                \
    "adds " sum ", " sum ", r2\n"
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "push {r4, r5}\n"
                     "mov  r8, r1\n" /* the end */
                     "mov  r9, r2\n" /* the channel */
                     "movs r1, r3\n"
                     "movs r4, #0\n"
                     "movs r5, #0\n"
                     "movs r6, #0\n"
                     "movs r7, #0\n"
                     "1:\n"
                     "ldmia r0!, {r2}\n"
                     "mov  r12, r0\n"
                     "mov  r0, r9\n"
                     "adds r0, r0, r2\n"
                     PRODUCT("0", "r4") PRODUCT("1", "r5") PRODUCT("2", "r6") PRODUCT("3", "r7")
                     "adds r1, #4\n"
                     "mov  r0, r12\n"
                     "cmp  r0, r8\n"
                     "bne  1b\n"
                     "ldr  r2, [sp, #28]\n"
                     "stmia r2!, {r4, r5, r6, r7}\n"
                     "movs r0, r1\n"
                     "pop  {r4, r5}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef PRODUCT
}
#else
static inline const int8_t *cortexm_tap_fours(const int8_t *const *tap, const int8_t *const *end,
                                              int32_t channel, const int8_t *w, int32_t sum[4])
{
    int32_t sum0 = 0;
    int32_t sum1 = 0;
    int32_t sum2 = 0;
    int32_t sum3 = 0;

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
    return w;
}
#endif

#endif
