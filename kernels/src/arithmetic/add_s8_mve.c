/* SPDX-License-Identifier: Apache-2.0 */
/* add, int8, MVE, for rescalings without left shifts. See kernels/README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE)
#error "add_s8_mve.c needs MVE"
#endif

#include "common/mve.h"
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

#define RAISE 20

/* A shift by which VSHL leaves of a number -1 if it is negative and else 0, which is to be added
 * before VRSHL by a negative shift; or nothing at all, if shift is 0. */
static inline int32x4_t sign_shift(int32_t shift)
{
    return vdupq_n_s32(shift < 0 ? -31 : 32);
}

/* The sums of `count` elements, four at a time. One loop in assembly, for its tail and because all
 * vector registers and nearly all others are in use: which is also why it is not inlined. */
static __attribute__((noinline)) void add(const void *params, const int8_t *a, const int8_t *b,
                                          int8_t *out, int32_t count)
{
    const cortexm_add_s8_t *const p = params;
    const cortexm_finish_t finish = cortexm_finish_of(p->out_zero_point, p->act_min, p->act_max);
    const int32x4_t a_sign = sign_shift(p->a_shift);
    const int32x4_t b_sign = sign_shift(p->b_shift);
    register int32_t counter __asm__("lr") = count;
    int32x4_t x, y, t;

    __asm__ volatile("wlstp.32      lr, lr, 2f\n"
                     "1:\n\t"
                     "vldrb.s32     %q[x], [%[a]], #4\n\t"
                     "vldrb.s32     %q[y], [%[b]], #4\n\t"
                     "vshl.i32      %q[x], %q[x], #20\n\t"
                     "vshl.i32      %q[y], %q[y], #20\n\t"
                     "vsub.i32      %q[x], %q[x], %[a_zero]\n\t"
                     "vsub.i32      %q[y], %q[y], %[b_zero]\n\t"
                     "vqrdmulh.s32  %q[x], %q[x], %[a_multiplier]\n\t"
                     "vqrdmulh.s32  %q[y], %q[y], %[b_multiplier]\n\t"
                     "vshl.s32      %q[t], %q[x], %q[a_sign]\n\t"
                     "vadd.i32      %q[x], %q[x], %q[t]\n\t"
                     "vshl.s32      %q[t], %q[y], %q[b_sign]\n\t"
                     "vrshl.s32     %q[x], %[a_shift]\n\t"
                     "vadd.i32      %q[y], %q[y], %q[t]\n\t"
                     "vrshl.s32     %q[y], %[b_shift]\n\t"
                     "vadd.i32      %q[x], %q[x], %q[y]\n\t"
                     "vqrdmulh.s32  %q[x], %q[x], %[out_multiplier]\n\t"
                     "vshr.s32      %q[t], %q[x], #31\n\t"
                     "vadd.i32      %q[x], %q[x], %q[t]\n\t"
                     "vrshl.s32     %q[x], %[out_shift]\n\t"
                     "vmax.s32      %q[x], %q[x], %q[low]\n\t"
                     "vmin.s32      %q[x], %q[x], %q[high]\n\t"
                     "vadd.i32      %q[x], %q[x], %q[zero]\n\t"
                     "vstrb.32      %q[x], [%[out]], #4\n\t"
                     "letp          lr, 1b\n"
                     "2:\n\t"
                     : [x] "=&w"(x), [y] "=&w"(y), [t] "=&w"(t), [a] "+l"(a), [b] "+l"(b),
                       [out] "+l"(out), "+r"(counter)
                     : [a_zero] "r"(cortexm_shift_left(p->a_zero_point, RAISE)),
                       [b_zero] "r"(cortexm_shift_left(p->b_zero_point, RAISE)),
                       [a_multiplier] "r"(p->a_multiplier), [b_multiplier] "r"(p->b_multiplier),
                       [a_shift] "r"((int32_t)p->a_shift), [b_shift] "r"((int32_t)p->b_shift),
                       [out_multiplier] "r"(p->out_multiplier),
                       [out_shift] "r"((int32_t)p->out_shift),
                       [a_sign] "w"(a_sign), [b_sign] "w"(b_sign), [low] "w"(finish.low),
                       [high] "w"(finish.high), [zero] "w"(finish.zero_point)
                     : "memory");
}

void cortexm_add_s8_mve(const cortexm_add_s8_t *params, const int8_t *a, const int8_t *b,
                        int8_t *out)
{
    const cortexm_add_s8_t *const p = params;

    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->a_shift <= 0 && p->b_shift <= 0 && p->out_shift < 0);
    cortexm_broadcast_mve(add, p, p->count, p->a_period, p->b_period, a, b, out);
}
