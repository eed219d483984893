/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of sums, DSP. */
#ifndef CORTEXM_ARITHMETIC_RUNS_DSP_H
#define CORTEXM_ARITHMETIC_RUNS_DSP_H

#include <stdint.h>

#include "common/dsp.h"
#include "common/stamp.h"
#include "cortexm/kernels.h"

/* Results four at a time: 24 instructions. SMLAW divides a product by 2^16, of which a factor brings one half and
 * a code in the upper byte of 16 bits the other one. How many that are. */
static inline int32_t add_run(const PARAMS *p, const int8_t *x, const int8_t *y, int8_t *out,
                              int32_t count)
{
    const int32_t done = count & ~3;
    int8_t *const end = out + done;
    int32_t s, t, u, v, w;

#define SUM(to, half, a, b)                                                                        \
    "smlaw" half " %[" to "], %[a_factor], %[" a "], %[start]\n\t"                                 \
    "smlaw" half " %[" to "], %[b_factor], %[" b "], %[" to "]\n\t"                                \
    "ssat   %[" to "], #8, %[" to "], asr #" CORTEXM_QUOTE(FRACTION) "\n\t"
    __asm__ volatile("b      2f\n"
                     "1:\n\t"
                     "ldr    %[s], [%[x]], #4\n\t"
                     "ldr    %[t], [%[y]], #4\n\t"
                     "and    %[u], %[mask], %[s], lsl #8\n\t"
                     "and    %[v], %[mask], %[t], lsl #8\n\t"
                     "and    %[s], %[mask]\n\t"
                     "and    %[t], %[mask]\n\t"
                     SUM("w", "b", "u", "v") SUM("u", "t", "u", "v")
                     SUM("v", "b", "s", "t") SUM("s", "t", "s", "t")
                     "bfi    %[w], %[v], #8, #8\n\t"
                     "bfi    %[u], %[s], #8, #8\n\t"
                     "pkhbt  %[w], %[w], %[u], lsl #16\n\t"
                     "str    %[w], [%[out]], #4\n\t"
                     "2:\n\t"
                     "cmp    %[out], %[end]\n\t"
                     "bne    1b\n\t"
                     : [x] "+r"(x), [y] "+r"(y), [out] "+r"(out), [s] "=&r"(s), [t] "=&r"(t),
                       [u] "=&r"(u), [v] "=&r"(v), [w] "=&r"(w)
                     : [end] "r"(end), [a_factor] "r"(p->a_factor * 256),
                       [b_factor] "r"(p->b_factor * 256), [start] "r"(p->constant),
                       [mask] "r"(UINT32_C(0xff00ff00))
                     : "cc", "memory");
#undef SUM
    return done;
}

#endif
