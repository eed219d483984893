/* SPDX-License-Identifier: Apache-2.0 */
/* Short copies and fills: loops that take the last vector's remainder by themselves, which GCC 12
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

#endif
