/* SPDX-License-Identifier: Apache-2.0 */
/* avg_pool2d of floats, portable C. */
#include "common/taps.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/* Positions of a window that begins at `first` inside [-padding, extent + padding). */
static int32_t counted(int32_t first, int32_t kernel, int32_t extent, int32_t padding)
{
    return cortexm_min(first + kernel, extent + padding) - cortexm_max(first, -padding);
}

static float fold(const cortexm_pool_f32_t *p, const float *in, cortexm_taps_t rows,
                  cortexm_taps_t columns, int32_t y0, int32_t x0)
{
    float sum = 0.0f;
    int32_t divisor = p->divisor;

    for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
        for (int32_t kx = columns.begin; kx < columns.end; ++kx) {
            sum += in[ky * p->in_strides[2] + kx * p->in_strides[3]];
        }
    }
    if (divisor == 0) {
        divisor = counted(y0, p->kernel_h, p->in_h, p->count_pad_h) *
                  counted(x0, p->kernel_w, p->in_w, p->count_pad_w);
    }
    return sum / (float)divisor;
}

#define FUNCTION cortexm_avg_pool2d_f32_scalar
#include "pool_f32_scalar.inc"
