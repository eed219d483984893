/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul of int16 codes, DSP instructions: a row of lhs with two of rhs at a time, two products an
 * instruction, in sums of 64 bits. See kernels/README.md for the formula. */
#if !defined(__ARM_FEATURE_DSP)
#error "batch_matmul_s16_dsp.c needs the DSP extension"
#endif

#include "common/dsp.h"
#include "common/matmul_wide.h"
#include "cortexm/kernels.h"

/* sum + product of the first halves + product of the second halves, in 64 bits. */
static inline int64_t smlald(uint32_t a, uint32_t b, int64_t sum)
{
    __asm__("smlald %Q0, %R0, %1, %2" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* Both products of x with `n` codes at a and at b. */
static void two_products(const int16_t *x, const int16_t *a, const int16_t *b, int32_t n,
                         int64_t sum[2])
{
    const int16_t *const end = x + n / 4 * 4;
    int64_t first = 0;
    int64_t second = 0;

    while (x != end) {
        uint32_t inputs = cortexm_load2(x);

        first = smlald(inputs, cortexm_load2(a), first);
        second = smlald(inputs, cortexm_load2(b), second);
        inputs = cortexm_load2(x + 2);
        first = smlald(inputs, cortexm_load2(a + 2), first);
        second = smlald(inputs, cortexm_load2(b + 2), second);
        x += 4;
        a += 4;
        b += 4;
    }
    for (n %= 4; n > 0; --n) {
        first += *x * *a++;
        second += *x++ * *b++;
    }
    sum[0] = first;
    sum[1] = second;
}

CORTEXM_BATCH_MATMUL_S16(cortexm_batch_matmul_s16_dsp)
{
    (void)scratch;
    cortexm_matmul_wide(params, lhs, rhs, out, two_products);
}
