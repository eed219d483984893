/* SPDX-License-Identifier: Apache-2.0 */
/* max_pool2d of floats, portable C. A NaN in a window is its maximum. */
#include <math.h>

#include "common/taps.h"
#include "cortexm/kernels.h"

static float fold(const cortexm_pool_f32_t *p, const float *in, cortexm_taps_t rows,
                  cortexm_taps_t columns, int32_t y0, int32_t x0)
{
    float largest = -INFINITY;

    (void)y0;
    (void)x0;
    for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
        for (int32_t kx = columns.begin; kx < columns.end; ++kx) {
            const float x = in[ky * p->dilation_h * p->in_strides[2] +
                               kx * p->dilation_w * p->in_strides[3]];

            largest = x > largest || x != x ? x : largest;
        }
    }
    return largest;
}

#define FUNCTION cortexm_max_pool2d_f32_scalar
#include "pool_f32_scalar.inc"
