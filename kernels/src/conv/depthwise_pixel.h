/* SPDX-License-Identifier: Apache-2.0 */
/* The windows of depthwise_conv2d_pixel. */
#ifndef CORTEXM_CONV_DEPTHWISE_PIXEL_H
#define CORTEXM_CONV_DEPTHWISE_PIXEL_H

#include "common/stamp.h"
#include "cortexm/kernels.h"

/* Elements from one tap of a window to the next, where they are all the same: it has one row or one
 * column, or is as wide as the image. */
static inline int32_t cortexm_tap_step(const PARAMS *p)
{
    return p->kernel_w == 1 ? p->dilation_h * p->in_row_stride : p->dilation_w * p->in_c;
}

#endif
