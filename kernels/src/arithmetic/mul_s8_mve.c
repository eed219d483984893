/* SPDX-License-Identifier: Apache-2.0 */
/* mul, int8, MVE. See kernels/README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "mul_s8_mve.c needs MVE"
#endif

#include "common/mve.h"
#include "cortexm/kernels.h"

/* The products of `count` elements, four at a time; in assembly for the loop's tail. */
static __attribute__((noinline)) void mul(const void *params, const int8_t *a, const int8_t *b,
                                          int8_t *out, int32_t count)
{
    const cortexm_mul_s8_t *const p = params;
    const cortexm_finish_t finish = cortexm_finish_of(p->out_zero_point, INT8_MIN, INT8_MAX);
    /* -1 is added to negative numbers that are shifted to the right. */
    const int32x4_t sign = vdupq_n_s32(p->shift < 0 ? -31 : 32);
    register int32_t counter __asm__("lr") = count;
    int32x4_t x, y, t;

    __asm__ volatile("wlstp.32      lr, lr, 2f\n"
                     "1:\n\t"
                     "vldrb.s32     %q[x], [%[a]], #4\n\t"
                     "vldrb.s32     %q[y], [%[b]], #4\n\t"
                     "vsub.i32      %q[x], %q[x], %[a_zero]\n\t"
                     "vsub.i32      %q[y], %q[y], %[b_zero]\n\t"
                     "vmul.i32      %q[x], %q[x], %q[y]\n\t"
                     "vshl.s32      %q[x], %[left]\n\t"
                     "vqrdmulh.s32  %q[x], %q[x], %[multiplier]\n\t"
                     "vshl.s32      %q[t], %q[x], %q[sign]\n\t"
                     "vadd.i32      %q[x], %q[x], %q[t]\n\t"
                     "vrshl.s32     %q[x], %[right]\n\t"
                     "vmax.s32      %q[x], %q[x], %q[low]\n\t"
                     "vmin.s32      %q[x], %q[x], %q[high]\n\t"
                     "vadd.i32      %q[x], %q[x], %q[zero]\n\t"
                     "vstrb.32      %q[x], [%[out]], #4\n\t"
                     "letp          lr, 1b\n"
                     "2:\n\t"
                     : [x] "=&w"(x), [y] "=&w"(y), [t] "=&w"(t), [a] "+l"(a), [b] "+l"(b),
                       [out] "+l"(out), "+r"(counter)
                     : [a_zero] "r"((int32_t)p->a_zero_point),
                       [b_zero] "r"((int32_t)p->b_zero_point),
                       [multiplier] "r"(p->multiplier), [left] "r"(cortexm_max(p->shift, 0)),
                       [right] "r"(cortexm_min(p->shift, 0)), [sign] "w"(sign),
                       [low] "w"(finish.low), [high] "w"(finish.high), [zero] "w"(finish.zero_point)
                     : "memory");
}

void cortexm_mul_s8_mve(const cortexm_mul_s8_t *params, const int8_t *a, const int8_t *b,
                        int8_t *out)
{
    const cortexm_mul_s8_t *const p = params;

    cortexm_broadcast_mve(mul, p, p->count, p->a_period, p->b_period, a, b, out);
}
