/* SPDX-License-Identifier: Apache-2.0 */
#ifndef __ARM_FEATURE_DSP
#error "compile for a core with DSP instructions, or take dot_scalar.c"
#endif

#include "dot.h"

#include "common/dsp.h"

/* Four elements at a time, as two pairs of 16 bits: with its offset a code has at most 256, so that a
 * sum of two products stays far below 2^31. */
int32_t cortexm_et_dot(const int8_t *in, int32_t in_offset, const int8_t *weight,
                       int32_t weight_offset, int32_t n)
{
    const uint32_t in_offsets = ((uint32_t)in_offset & 0xffffu) * 0x10001u;
    const uint32_t weight_offsets = ((uint32_t)weight_offset & 0xffffu) * 0x10001u;
    int32_t sum = 0;

    for (; n >= 4; n -= 4) {
        const uint32_t x = cortexm_load4(in);
        const uint32_t w = cortexm_load4(weight);

        sum = cortexm_smlad(cortexm_sadd16(cortexm_sxtb16(x), in_offsets),
                            cortexm_sadd16(cortexm_sxtb16(w), weight_offsets), sum);
        sum = cortexm_smlad(cortexm_sadd16(cortexm_sxtb16_ror8(x), in_offsets),
                            cortexm_sadd16(cortexm_sxtb16_ror8(w), weight_offsets), sum);
        in += 4;
        weight += 4;
    }
    for (; n > 0; --n) {
        sum += (*in++ + in_offset) * (*weight++ + weight_offset);
    }
    return sum;
}
