/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul of int16 codes, MVE: a row of lhs with two of rhs at a time, eight products an instruction,
 * in sums of 64 bits. See kernels/README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "batch_matmul_s16_mve.c needs MVE"
#endif

#include <arm_mve.h>

#include "common/matmul_wide.h"
#include "cortexm/kernels.h"

/* Both products of x with `n` codes at a and at b. Assembly, as GCC 12 does not use loops with tails; a
 * sum is an even register and the next one. */
static inline void two_products(const int16_t *x, const int16_t *a, const int16_t *b, int32_t n,
                                int64_t sum[2])
{
    int16x8_t s, t;

    __asm__ volatile("movs           r0, #0\n\t"
                     "movs           r1, #0\n\t"
                     "movs           r2, #0\n\t"
                     "movs           r3, #0\n\t"
                     "wlstp.16       lr, %[n], 2f\n"
                     "1:\n\t"
                     "vldrh.u16      %q[s], [%[x]], #16\n\t"
                     "vldrh.u16      %q[t], [%[a]], #16\n\t"
                     "vmlaldava.s16  r0, r1, %q[s], %q[t]\n\t"
                     "vldrh.u16      %q[t], [%[b]], #16\n\t"
                     "vmlaldava.s16  r2, r3, %q[s], %q[t]\n\t"
                     "letp           lr, 1b\n"
                     "2:\n\t"
                     "strd           r0, r1, [%[sum]]\n\t"
                     "strd           r2, r3, [%[sum], #8]\n\t"
                     : [s] "=&w"(s), [t] "=&w"(t), [x] "+r"(x), [a] "+r"(a), [b] "+r"(b)
                     : [n] "r"(n), [sum] "r"(sum)
                     : "r0", "r1", "r2", "r3", "lr", "cc", "memory");
}

CORTEXM_BATCH_MATMUL_S16(cortexm_batch_matmul_s16_mve)
{
    (void)scratch;
    cortexm_matmul_wide(params, lhs, rhs, out, two_products);
}
