/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of codes in pairs, with DSP instructions. */
#ifndef CORTEXM_POOL_PAIRS_H
#define CORTEXM_POOL_PAIRS_H

#define CORTEXM_PAIRS_scalar 0
#define CORTEXM_PAIRS_dsp 1
#define IS_PAIRED CORTEXM_JOIN(CORTEXM_PAIRS_, ISA)

#if IS_PAIRED

/* Sums of up to 256 pixels, `step` bytes apart, of four channels: those of even and of odd ones are pairs. */
typedef struct {
    uint32_t even, odd;
} pairs_t;

#define ADD_PIXEL                                                                                  \
    "ldr     %[codes], [%[x]]\n\t"                                                                 \
    "add     %[x], %[step]\n\t"                                                                    \
    "sxtab16 %[even], %[even], %[codes]\n\t"                                                       \
    "sxtab16 %[odd], %[odd], %[codes], ror #8\n\t"
static inline pairs_t add_run(const ELEMENT *x, int32_t run, int32_t step)
{
    pairs_t sum = {0, 0};
    uint32_t codes;

    /* An odd pixel begins in the middle. */
    __asm__ volatile("lsls    %[codes], %[run], #31\n\t"
                     "bne     2f\n\t"
                     "1:\n\t" ADD_PIXEL
                     "2:\n\t" ADD_PIXEL
                     "cmp     %[x], %[end]\n\t"
                     "bne     1b\n\t"
                     : [x] "+r"(x), [even] "+r"(sum.even), [odd] "+r"(sum.odd), [codes] "=&r"(codes)
                     : [step] "r"(step), [run] "r"(run), [end] "r"(x + run * step)
                     : "cc", "memory");
    return sum;
}

#endif

#endif
