/* SPDX-License-Identifier: Apache-2.0 */
/* A function of floats, four at a time (of_vector), for all elements, MVE. */
#ifndef CORTEXM_ACTIVATION_VECTORS_MVE_H
#define CORTEXM_ACTIVATION_VECTORS_MVE_H

#include "common/mve.h"
#include "common/stamp.h"
#include "cortexm/kernels.h"

static CORTEXM_APART void of_vectors(const PARAMS *params, const float *in, float *out, int32_t vectors)
{
    for (; vectors > 0; --vectors) {
        vst1q_f32(out, of_vector(params, vld1q_f32(in)));
        in += 4;
        out += 4;
    }
}

/* Up to three that are left take a vector of their own, so that whole ones need no predicate. */
CORTEXM_UNARY(KERNEL, PARAMS, float)
{
    const int32_t whole = params->count & ~3;
    const mve_pred16_t some = vctp32q((uint32_t)(params->count & 3));

    of_vectors(params, in, out, whole >> 2);
    if (some != 0) {
        float left[4];

        vst1q_f32(left, vldrwq_z_f32(in + whole, some));
        of_vectors(params, left, left, 1);
        vstrwq_p_f32(out + whole, vld1q_f32(left), some);
    }
}

#endif
