/* SPDX-License-Identifier: Apache-2.0 */
/* Short copies, fills and sums: loops that take the last vector's remainder by themselves, which GCC 12
 * does not generate. */
#ifndef CORTEXM_COMMON_MEMORY_MVE_H
#define CORTEXM_COMMON_MEMORY_MVE_H

#include "common/mve.h"

static inline void cortexm_copy_mve(int8_t *to, const int8_t *from, int32_t size)
{
    int8x16_t t;

    __asm__ volatile("wlstp.8   lr, %[size], 2f\n"
                     "1:\n\t"
                     "vldrb.u8  %q[t], [%[from]], #16\n\t"
                     "vstrb.8   %q[t], [%[to]], #16\n\t"
                     "letp      lr, 1b\n"
                     "2:\n\t"
                     : [t] "=&w"(t), [from] "+r"(from), [to] "+r"(to)
                     : [size] "r"(size)
                     : "lr", "memory");
}

static inline void cortexm_fill_mve(int8_t *to, int8_t value, int32_t size)
{
    const int8x16_t t = vdupq_n_s8(value);

    __asm__ volatile("wlstp.8   lr, %[size], 2f\n"
                     "1:\n\t"
                     "vstrb.8   %q[t], [%[to]], #16\n\t"
                     "letp      lr, 1b\n"
                     "2:\n\t"
                     : [to] "+r"(to)
                     : [t] "w"(t), [size] "r"(size)
                     : "lr", "memory");
}

/* sum of a[0..size) */
static inline int32_t cortexm_sum_mve(const int8_t *a, int32_t size)
{
    int32_t sum = 0;
    int8x16_t t;

    __asm__ volatile("wlstp.8   lr, %[size], 2f\n"
                     "1:\n\t"
                     "vldrb.u8  %q[t], [%[a]], #16\n\t"
                     "vaddva.s8 %[sum], %q[t]\n\t"
                     "letp      lr, 1b\n"
                     "2:\n\t"
                     : [t] "=&w"(t), [a] "+r"(a), [sum] "+Te"(sum)
                     : [size] "r"(size)
                     : "lr", "memory");
    return sum;
}

#endif
