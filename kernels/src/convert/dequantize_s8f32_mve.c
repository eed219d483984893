/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize from int8, MVE with floats. See kernels/README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE) || !(__ARM_FEATURE_MVE & 2)
#error "dequantize_s8f32_mve.c needs MVE with floating point"
#endif

#include "common/mve.h"
#include "cortexm/kernels.h"

void cortexm_dequantize_s8f32_mve(const cortexm_dequantize_t *params, const int8_t *in, float *out)
{
    int32x4_t x;

    __asm__ volatile("wlstp.32     lr, %[count], 2f\n"
                     "1:\n\t"
                     "vldrb.s32    %q[x], [%[in]], #4\n\t"
                     "vsub.i32     %q[x], %q[x], %[zero]\n\t"
                     "vcvt.f32.s32 %q[x], %q[x]\n\t"
                     "vmul.f32     %q[x], %q[x], %[scale]\n\t"
                     "vstrw.32     %q[x], [%[out]], #16\n\t"
                     "letp         lr, 1b\n"
                     "2:\n\t"
                     : [x] "=&w"(x), [in] "+l"(in), [out] "+r"(out)
                     : [count] "r"(params->count), [scale] "r"(params->scale),
                       [zero] "r"((int32_t)params->zero_point)
                     : "lr", "memory");
}
