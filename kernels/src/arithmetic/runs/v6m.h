/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of sums, Armv6-M. */
#ifndef CORTEXM_ARITHMETIC_RUNS_V6M_H
#define CORTEXM_ARITHMETIC_RUNS_V6M_H

#include <stdint.h>

#include "common/stamp.h"
#include "cortexm/kernels.h"

/* `-minus_count` results that end at `out`, of operands that end at x and y: 13 instructions, as few are beyond
 * the codes. `factors` are the two and the constant. */
CORTEXM_NAKED static void add_to_end(const int8_t *x, const int8_t *y, int8_t *out,
                                     const int32_t *factors, int32_t minus_count)
{
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(y);
    CORTEXM_TAKES(out);
    CORTEXM_TAKES(factors);
    CORTEXM_TAKES(minus_count);
    __asm__ volatile(".syntax unified\n"
                     "push   {r4, r5, r6, r7, lr}\n"
                     "mov    r7, r8\n"
                     "push   {r7}\n"
                     "ldr    r7, [sp, #24]\n"
                     "ldm    r3!, {r4, r5, r6}\n"
                     "mov    r8, r6\n"
                     "mov    r3, r5\n"
                     "1:\n"
                     "ldrsb  r5, [r0, r7]\n"
                     "ldrsb  r6, [r1, r7]\n"
                     "muls   r5, r4, r5\n"
                     "muls   r6, r3, r6\n"
                     "add    r5, r8\n"
                     "adds   r5, r5, r6\n"
                     "asrs   r5, r5, #" CORTEXM_QUOTE(FRACTION) "\n"
                     "sxtb   r6, r5\n"
                     "cmp    r5, r6\n"
                     "bne    3f\n"
                     "2:\n"
                     "strb   r5, [r2, r7]\n"
                     "adds   r7, #1\n"
                     "bne    1b\n"
                     "pop    {r7}\n"
                     "mov    r8, r7\n"
                     "pop    {r4, r5, r6, r7, pc}\n"
                     "3:\n" /* the lowest or highest code: the sign, and its opposite in the bits below */
                     "asrs   r5, r5, #31\n"
                     "movs   r6, #127\n"
                     "eors   r5, r6\n"
                     "b      2b\n");
}

static inline int32_t add_run(const PARAMS *p, const int8_t *x, const int8_t *y, int8_t *out,
                              int32_t count)
{
    const int32_t factors[3] = {p->a_factor, p->b_factor, p->constant};

    add_to_end(x + count, y + count, out + count, factors, -count);
    return count;
}

#endif
