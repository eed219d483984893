/* SPDX-License-Identifier: Apache-2.0 */
/* quantize to int8, MVE with floats: VCVTN rounds ties to even, saturates and makes NaN zero. The
 * product is rounded by itself, as there is no fused operation. Subnormal floats count as zero, which
 * the plan has proved to make no difference. See kernels/README.md for the formula. */
#if !defined(__ARM_FEATURE_MVE) || !(__ARM_FEATURE_MVE & 2)
#error "quantize_f32s8_mve.c needs MVE with floating point"
#endif

#include "common/mve.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

void cortexm_quantize_f32s8_mve(const cortexm_quantize_t *params, const float *in, int8_t *out)
{
    const int32x4_t low = vdupq_n_s32(params->qmin);
    const int32x4_t high = vdupq_n_s32(params->qmax);
    float32x4_t x;

    CORTEXM_ASSERT(params->qmin <= params->qmax);
    __asm__ volatile("wlstp.32     lr, %[count], 2f\n"
                     "1:\n\t"
                     "vldrw.u32    %q[x], [%[in]], #16\n\t"
                     "vmul.f32     %q[x], %q[x], %[inv_scale]\n\t"
                     "vcvtn.s32.f32 %q[x], %q[x]\n\t"
                     "vqadd.s32    %q[x], %q[x], %[zero]\n\t"
                     "vmax.s32     %q[x], %q[x], %q[low]\n\t"
                     "vmin.s32     %q[x], %q[x], %q[high]\n\t"
                     "vstrb.32     %q[x], [%[out]], #4\n\t"
                     "letp         lr, 1b\n"
                     "2:\n\t"
                     : [x] "=&w"(x), [in] "+r"(in), [out] "+l"(out)
                     : [count] "r"(params->count), [inv_scale] "r"(params->inv_scale),
                       [zero] "r"((int32_t)params->zero_point), [low] "w"(low), [high] "w"(high)
                     : "lr", "memory");
}
