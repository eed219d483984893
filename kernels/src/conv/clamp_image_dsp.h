/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds of all results of a convolution of int8 codes, DSP. */
#ifndef CORTEXM_CONV_CLAMP_IMAGE_DSP_H
#define CORTEXM_CONV_CLAMP_IMAGE_DSP_H

#include "common/stamp.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

#if CODE_BITS == 8
#define cortexm_clamp_image CORTEXM_NAME(clamp_image, TYPES, ISA)
CORTEXM_SHARED void cortexm_clamp_image(const PARAMS *p, int8_t *out)
{
    const int8_t *const end = out + p->out_h * p->out_w * p->out_pixel_stride;

    if (p->act_min > INT8_MIN || p->act_max < INT8_MAX) {
        for (; out != end; out += p->out_pixel_stride) {
            for (int32_t c = p->out_c; --c >= 0;) {
                out[c] = (int8_t)cortexm_clamp(out[c], p->act_min, p->act_max);
            }
        }
    }
}
#endif

#endif
