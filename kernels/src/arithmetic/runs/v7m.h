/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of sums, Armv7-M. */
#ifndef CORTEXM_ARITHMETIC_RUNS_V7M_H
#define CORTEXM_ARITHMETIC_RUNS_V7M_H

#include <stdint.h>

#include "common/stamp.h"
#include "cortexm/kernels.h"

/* Results four at a time: 26 instructions. How many that are. */
static inline int32_t add_run(const PARAMS *p, const int8_t *x, const int8_t *y, int8_t *out,
                              int32_t count)
{
    const int32_t done = count & ~3;
    int8_t *const end = out + done;
    int32_t s, t, u, v;

#define SUM(a, b)                                                                                  \
    "mla    %[" a "], %[" a "], %[a_factor], %[start]\n\t"                                         \
    "mla    %[" a "], %[" b "], %[b_factor], %[" a "]\n\t"                                         \
    "ssat   %[" a "], #8, %[" a "], asr #" CORTEXM_QUOTE(FRACTION) "\n\t"
#define TWO                                                                                        \
    "ldrsb  %[s], [%[x]], #1\n\t"                                                                  \
    "ldrsb  %[t], [%[y]], #1\n\t"                                                                  \
    "ldrsb  %[u], [%[x]], #1\n\t"                                                                  \
    "ldrsb  %[v], [%[y]], #1\n\t" SUM("s", "t") SUM("u", "v") "strb   %[s], [%[out]], #1\n\t"      \
    "strb   %[u], [%[out]], #1\n\t"
    __asm__ volatile(".syntax unified\n\t"
                     "b      2f\n"
                     "1:\n\t" TWO TWO "2:\n\t"
                     "cmp    %[out], %[end]\n\t"
                     "bne    1b\n\t"
                     : [x] "+r"(x), [y] "+r"(y), [out] "+r"(out), [s] "=&r"(s), [t] "=&r"(t),
                       [u] "=&r"(u), [v] "=&r"(v)
                     : [end] "r"(end), [a_factor] "r"(p->a_factor), [b_factor] "r"(p->b_factor),
                       [start] "r"(p->constant)
                     : "cc", "memory");
#undef TWO
#undef SUM
    return done;
}

#endif
