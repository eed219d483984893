/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter blocks of the kernels. One block serves every variant of a family: scalar, DSP, MVE and
 * the reference read the same fields with the same meaning and give the same bytes.
 *
 * Conventions
 *   - Images lie in memory as rows of pixels of channels (NHWC). Strides are in elements.
 *   - A requantization is a Q31 multiplier in [2^30, 2^31) (or 0) and a shift in [-31, 30], positive
 *     to the left: see docs/numerics.md. Per channel they are two arrays of out_c entries.
 *   - A zero point is the code that means 0.0. Input zero points are already folded into biases:
 *     bias[o] here is the model's bias minus in_zero_point times the sum of channel o's weights.
 *     Padding pixels have the value in_zero_point.
 */
#ifndef CORTEXM_PARAMS_H
#define CORTEXM_PARAMS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* conv2d, depthwise_conv2d and transpose_conv2d. A call computes out_h rows; with in_y0 and the row
 * strides it can be any band of rows of a larger image. */
typedef struct {
    const int32_t *multiplier; /* [out_c] Q31 */
    const int8_t *shift;       /* [out_c] */
    int32_t batches;
    int32_t in_h, in_w;        /* readable input rows and columns; outside is padding */
    int32_t out_h, out_w;      /* output rows and columns that this call computes */
    int32_t in_row_stride, out_row_stride;     /* from one row to the next */
    int32_t in_batch_stride, out_batch_stride; /* from one image to the next */
    int32_t in_y0, in_x0;      /* input position of the first tap of output (0, 0); negative = padding.
                                * transpose_conv2d: output position of the first tap of input (0, 0) */
    uint16_t in_c, out_c;      /* channels of a pixel */
    uint16_t kernel_h, kernel_w;
    uint16_t stride_h, stride_w;
    uint16_t dilation_h, dilation_w;
    uint16_t groups;           /* conv2d: divides in_c and out_c; 1 in the other two */
    int8_t in_zero_point, out_zero_point;
    int8_t act_min, act_max;   /* clamp of the result, in codes */
} cortexm_conv_s8_t;

/* avg_pool2d and max_pool2d. Input and output have one scale and zero point. */
typedef struct {
    int32_t batches;
    int32_t in_h, in_w;
    int32_t out_h, out_w;
    int32_t in_row_stride, out_row_stride;
    int32_t in_batch_stride, out_batch_stride;
    int32_t in_y0, in_x0;
    uint16_t channels;
    uint16_t kernel_h, kernel_w;
    uint16_t stride_h, stride_w;
    uint16_t dilation_h, dilation_w;
    int8_t act_min, act_max;
} cortexm_pool_s8_t;

/* linear: out[r][o] = requantize(bias[o] + sum_k in[r][k] * (weight[o][k] - weight_zero_point)) */
typedef struct {
    int32_t rows;              /* product of the leading dimensions */
    int32_t in_features, out_features;
    int32_t multiplier, shift; /* one for all outputs */
    int32_t weight_zero_point;
    int8_t out_zero_point;
    int8_t act_min, act_max;
} cortexm_linear_s8_t;

/* batch_matmul: lhs [batches][rows][inner], rhs transposed [batches][cols][inner] */
typedef struct {
    int32_t batches, rows, cols, inner;
    int32_t multiplier, shift;
    int32_t lhs_zero_point, rhs_zero_point;
    int8_t out_zero_point;
} cortexm_batch_matmul_s8_t;

/* add: both operands are (code - zero point) * 2^20, requantized each, summed, requantized again.
 * Element i of the result reads a[i % a_period] and b[i % b_period]; a period divides count. */
typedef struct {
    int32_t count;             /* elements of the result */
    int32_t a_period, b_period;
    int32_t a_multiplier, a_shift;
    int32_t b_multiplier, b_shift;
    int32_t out_multiplier, out_shift;
    int32_t a_zero_point, b_zero_point, out_zero_point;
    int8_t act_min, act_max;
} cortexm_add_s8_t;

/* mul: requantize((a - a_zero_point) * (b - b_zero_point)); periods as in add */
typedef struct {
    int32_t count;
    int32_t a_period, b_period;
    int32_t multiplier, shift;
    int32_t a_zero_point, b_zero_point, out_zero_point;
} cortexm_mul_s8_t;

/* div: round_half_even(float(a - za) / float(b - zb) * scale) + out_zero_point, 0/0 and x/0 give
 * out_zero_point; a and b have count elements each */
typedef struct {
    int32_t count;
    float scale;
    int32_t a_zero_point, b_zero_point, out_zero_point;
} cortexm_div_t;

/* minimum, maximum; periods as in add */
typedef struct {
    int32_t count;
    int32_t a_period, b_period;
} cortexm_minmax_t;

/* softmax over `size` elements that lie `inner` apart, for outer * inner such columns.
 * Result: scale 1/256, zero point -128. */
typedef struct {
    int32_t outer, size, inner;
    int32_t multiplier, shift; /* of code differences, to Q26 (5 integer bits) */
    int32_t diff_min;          /* differences from the maximum below it count as exp() = 0 */
} cortexm_softmax_s8_t;

/* activation through a table of 256 codes: out[i] = table[in[i] + 128] */
typedef struct {
    int32_t count;
} cortexm_activation_s8_t;

/* quantize: clamp(round_half_even(in[i] * inv_scale) + zero_point, qmin, qmax) */
typedef struct {
    int32_t count;
    float inv_scale;           /* 1 / scale, rounded to float */
    int32_t zero_point;
    int32_t qmin, qmax;
} cortexm_quantize_t;

/* dequantize: (in[i] - zero_point) * scale */
typedef struct {
    int32_t count;
    float scale;
    int32_t zero_point;
} cortexm_dequantize_t;

/* fill: out[i] = value, by element size */
typedef struct {
    int32_t count;
    int32_t value;
} cortexm_fill_t;

/* copy: for every index of a box of extents dims[0..rank), out[sum i*out_stride] = in[sum i*in_stride].
 * Strides are in elements and may be 0 (broadcast) or negative (flip). Transposition, slicing,
 * concatenation, padding (after a fill) and changes of layout are all copies. */
#define CORTEXM_COPY_MAX_RANK 8
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_COPY_MAX_RANK];
    int32_t in_stride[CORTEXM_COPY_MAX_RANK];
    int32_t out_stride[CORTEXM_COPY_MAX_RANK];
} cortexm_copy_t;

#ifdef __cplusplus
}
#endif

#endif
