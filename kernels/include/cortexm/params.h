/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter blocks of the kernels. One block serves every variant of a family: scalar, DSP, MVE and
 * the reference read the same fields with the same meaning and give the same bytes. Internal, as
 * kernels.h.
 *
 * Conventions
 *   - Images lie in memory as rows of pixels of channels (NHWC). Strides are in elements.
 *   - A requantization is a Q31 multiplier in [0, 2^31), mostly from 2^30 on, and a shift in
 *     [-31, 30], positive to the left: see docs/numerics.md. Per channel they are two arrays of out_c
 *     entries.
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

/* conv2d, depthwise_conv2d and transpose_conv2d. A call computes out_h rows of one image; with in_y0
 * and the row stride they can be any band of rows of a larger one, and with the output's pixel stride
 * some of the channels of an image with more. */
typedef struct {
    const int32_t *multiplier; /* [out_c] Q31 */
    const int8_t *shift;       /* [out_c] */
    int32_t in_row_stride;     /* from one row to the next */
    uint16_t in_h, in_w;       /* readable input rows and columns; outside is padding */
    uint16_t out_h, out_w;     /* output rows and columns that this call computes */
    uint16_t out_pixel_stride; /* from one pixel to the next, at least out_c; out_w of them are a row */
    int16_t in_y0, in_x0;      /* input position of the first tap of output (0, 0); negative = padding.
                                * transpose_conv2d: output position of the first tap of input (0, 0) */
    uint16_t in_c, out_c;      /* channels of a pixel */
    uint16_t kernel_h, kernel_w;
    uint16_t stride_h, stride_w;
    uint16_t dilation_h, dilation_w;
    uint16_t groups;           /* conv2d: divides in_c and out_c; 1 in the other two */
    int8_t in_zero_point, out_zero_point;
    int8_t act_min, act_max;   /* clamp of the result, in codes */
} cortexm_conv_s8_t;

/* depthwise_ring. The ring is [channels / 4][turns][rows][4]. */
typedef struct {
    const int32_t *multiplier; /* [channels] Q31 */
    const int8_t *shift;       /* [channels] */
    int32_t turns;             /* calls after which all of the ring is new, at least 1 */
    int32_t rows;              /* that are new in a call, at least 1 */
    int32_t channels;          /* a multiple of 4 */
    int8_t out_zero_point;
    int8_t act_min, act_max;   /* clamp of the result, in codes */
} cortexm_ring_s8_t;

/* The same of weights of 4 bits. A multiplier is the upper half of a Q31 one whose lower half is 0. */
typedef struct {
    const int16_t *multiplier; /* [out_c] Q15 */
    const int8_t *shift;       /* [out_c] */
    int32_t in_row_stride;
    uint16_t in_h, in_w;
    uint16_t out_h, out_w;
    uint16_t out_pixel_stride;
    int16_t in_y0, in_x0;
    uint16_t in_c, out_c;
    uint16_t kernel_h, kernel_w;
    uint16_t stride_h, stride_w;
    uint16_t dilation_h, dilation_w;
    uint16_t groups;
    int8_t in_zero_point, out_zero_point;
    int8_t act_min, act_max;
} cortexm_conv_s8w4_t;

/* The same of int16 codes, symmetric: their zero point is 0. A multiplier is the upper half of a Q31 one,
 * rounded; a shift lies in [-31, 14]. */
typedef struct {
    const int16_t *multiplier; /* [out_c] Q15 */
    const int8_t *shift;       /* [out_c] */
    int32_t in_row_stride;
    uint16_t in_h, in_w;
    uint16_t out_h, out_w;
    uint16_t out_pixel_stride;
    int16_t in_y0, in_x0;
    uint16_t in_c, out_c;
    uint16_t kernel_h, kernel_w;
    uint16_t stride_h, stride_w;
    uint16_t dilation_h, dilation_w;
    uint16_t groups;
    int16_t act_min, act_max;
} cortexm_conv_s16_t;

/* avg_pool2d and max_pool2d, of one image or a band of its rows. Input and output have one scale and
 * zero point. An average is not clamped. */
typedef struct {
    int32_t in_row_stride;
    uint16_t in_h, in_w;
    uint16_t out_h, out_w;
    uint16_t out_pixel_stride;
    int16_t in_y0, in_x0;
    uint16_t channels;
    uint16_t kernel_h, kernel_w;
    uint16_t stride_h, stride_w;
    uint16_t dilation_h, dilation_w;
    int8_t act_min, act_max;
} cortexm_pool_s8_t;

/* The same of int16. */
typedef struct {
    int32_t in_row_stride;
    uint16_t in_h, in_w;
    uint16_t out_h, out_w;
    uint16_t out_pixel_stride;
    int16_t in_y0, in_x0;
    uint16_t channels;
    uint16_t kernel_h, kernel_w;
    uint16_t stride_h, stride_w;
    uint16_t dilation_h, dilation_w;
    int16_t act_min, act_max;
} cortexm_pool_s16_t;

/* linear: out[r][o] = requantize(bias[o] + sum_k in[r][k] * (weight[o][k] - weight_zero_point)), with
 * a requantization for each output */
typedef struct {
    const int32_t *multiplier; /* [out_features] */
    const int8_t *shift;       /* [out_features] */
    int32_t rows;              /* product of the leading dimensions */
    int32_t in_features, out_features;
    int16_t weight_zero_point;
    int8_t out_zero_point;
    int8_t act_min, act_max;
} cortexm_linear_s8_t;

/* The same of weights of 4 bits, with multipliers as in cortexm_conv_s8w4_t. */
typedef struct {
    const int16_t *multiplier; /* [out_features] Q15 */
    const int8_t *shift;       /* [out_features] */
    int32_t rows;
    int32_t in_features, out_features;
    int16_t weight_zero_point;
    int8_t out_zero_point;
    int8_t act_min, act_max;
} cortexm_linear_s8w4_t;

/* The same of int16, with a requantization for each output as in cortexm_conv_s16_t. */
typedef struct {
    const int16_t *multiplier; /* [out_features] Q15 */
    const int8_t *shift;       /* [out_features] */
    int32_t rows;
    int32_t in_features, out_features;
    int16_t act_min, act_max;
} cortexm_linear_s16_t;

/* batch_matmul: lhs [groups][batches][rows][inner], rhs transposed [groups][batches][cols][inner], result
 * [groups][batches][rows][cols]. The strides say how many elements lie between neighbours along these, as of
 * heads of attention; those of rows of lhs and of columns of the result are 1, and one of the last two
 * of rhs is, or there is a single column. */
typedef struct {
    int32_t groups, batches, rows, cols, inner;
    int32_t lhs_strides[3], rhs_strides[4], out_strides[3];
    int32_t multiplier;
    int16_t lhs_zero_point, rhs_zero_point;
    int8_t shift;
    int8_t out_zero_point;
} cortexm_batch_matmul_s8_t;

/* The same of int16; the multiplier is Q15. */
typedef struct {
    int32_t groups, batches, rows, cols, inner;
    int32_t lhs_strides[3], rhs_strides[4], out_strides[3];
    int16_t multiplier;
    int8_t shift;
} cortexm_batch_matmul_s16_t;

/* add: both operands are (code - zero point) * 2^20, requantized each, summed, requantized again.
 * The operands' multipliers may be negative, down to -2^31 + 1. Element i of the result reads
 * a[i % a_period] and b[i % b_period]; a period divides count. */
typedef struct {
    int32_t count;             /* elements of the result */
    int32_t a_period, b_period;
    int32_t a_multiplier, b_multiplier, out_multiplier;
    int16_t a_zero_point, b_zero_point, out_zero_point;
    int8_t a_shift, b_shift, out_shift;
    int8_t act_min, act_max;
} cortexm_add_s8_t;

/* The same as a function of the codes: saturate((a * a_factor + b * b_factor + constant) >> n), of which no sum
 * of codes is beyond [-2^31 + 2^(n-1), 2^31), and factors are less than 2^23 in size. n is 21, or 22 in
 * add_affine_fine. */
typedef struct {
    int32_t count;
    int32_t a_period, b_period;
    int32_t a_factor, b_factor, constant;
} cortexm_add_affine_t;

/* The same as cortexm_add_s8_t of int16, with zero points 0 and 2^15 in the place of 2^20. */
typedef struct {
    int32_t count;
    int32_t a_period, b_period;
    int32_t a_multiplier, b_multiplier, out_multiplier;
    int8_t a_shift, b_shift, out_shift;
    int16_t act_min, act_max;
} cortexm_add_s16_t;

/* mul: requantize((a - a_zero_point) * (b - b_zero_point)); periods as in add. ExecuTorch gives an operand of
 * few values a zero point beyond the codes. */
typedef struct {
    int32_t count;
    int32_t a_period, b_period;
    int32_t multiplier;
    int16_t a_zero_point, b_zero_point;
    int8_t shift, out_zero_point;
} cortexm_mul_s8_t;

/* The same of int16, with zero points 0. With a stride not 0 operands do not repeat: their periods, which are one
 * length of two elements at least, are rows that begin as many elements apart, as of parts of larger tensors. */
typedef struct {
    int32_t count;
    int32_t a_period, b_period;
    int32_t stride;
    int32_t multiplier;
    int8_t shift;
} cortexm_mul_s16_t;

/* gate: clamp(requantize((x - a_zero_point) * (y - b_zero_point)) + out_zero_point), as mul, of the elements x of
 * `a` and the entries y of a table for those of `b`: `rows` times `size` of them, whose rows begin a_stride and
 * b_stride apart. The result's lie one after the other. */
typedef struct {
    int32_t rows, size;
    int32_t a_stride, b_stride; /* elements, at least size */
    int32_t multiplier;
    int16_t a_zero_point, b_zero_point; /* -16000 to 16000 */
    int8_t out_zero_point;
    int8_t shift;              /* -22 to -1 */
} cortexm_gate_s8_t;

/* The same of int16, with zero points 0 and a table between whose entries is interpolated, as in activation. */
typedef struct {
    int32_t rows, size;
    int32_t a_stride, b_stride;
    int32_t multiplier;
    int32_t bits;              /* 4 ... 7 */
    int8_t shift;              /* -31 to -2 */
} cortexm_gate_s16_t;

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
    int32_t diff_min;          /* differences from the maximum below it count as exp() = 0; no lower than
                                * those whose exponential counts (lowest_difference in ir/fixed_point.py)
                                * for kernels of up to 64 elements with DSP instructions or MVE */
} cortexm_softmax_s8_t;

/* softmax of int16, of columns as above, up to 65,536 elements. Result: scale 2^-15, zero point 0. */
typedef struct {
    int32_t outer, size, inner;
    uint32_t multiplier;       /* codes times it are exponents of 2 in Q32 */
} cortexm_softmax_s16_t;

/* softmax of such columns by tables: of exp from -10 to 0 and of 1 / (1 + f) from 0 to 1, 513 entries in Q15 each.
 * Differences of codes times multiplier * 2^(shift - 31) are multiples of 10 / 65535. */
typedef struct {
    int32_t outer, size, inner;
    int32_t multiplier, shift; /* -31 to 15 */
} cortexm_softmax_interpolated_s16_t;

/* sigmoid of int16 by a table (activation/sigmoid.h), in Q15, or tanh: in[i] times multiplier / 2^shift, rounded,
 * ties up, is in units of 1 / 12288 */
typedef struct {
    int32_t count;
    int16_t multiplier;        /* from 0 on */
    int8_t shift;              /* 0 ... 31 */
    int8_t is_tanh;
} cortexm_sigmoid_s16_t;

/* activation of int16 through a table of n + 1 codes, n = 2^16 / 2^bits. With position = in[i] + 2^15,
 * k = position >> bits and f its last `bits` bits,
 * out[i] = table[k] + (((table[k + 1] - table[k]) * f + 2^(bits - 1)) >> bits) */
typedef struct {
    int32_t count;
    int32_t bits;              /* 4 ... 7 */
} cortexm_activation_s16_t;

/* activation through a table of 256 codes: out[i] = table[in[i] + 128] */
typedef struct {
    int32_t count;
} cortexm_activation_s8_t;

/* lookup: bytes through a table of 256 codes for each channel, out[i] = table[256 * c + in[i]] with
 * c = i / inner % channels */
typedef struct {
    int32_t count;             /* a multiple of channels * inner */
    int32_t channels;
    int32_t inner;             /* elements of one channel that lie side by side */
} cortexm_lookup_t;

/* quantize: clamp(round_half_even(in[i] * inv_scale) + zero_point, qmin, qmax) */
typedef struct {
    int32_t count;
    float inv_scale;           /* 1 / scale, rounded to float */
    int16_t zero_point;
    int16_t qmin, qmax;
} cortexm_quantize_t;

/* requantize: clamp(requantize(in[i] - in_zero_point) + out_zero_point, act_min, act_max) */
typedef struct {
    int32_t count;
    int32_t multiplier;
    int8_t shift;
    int8_t in_zero_point, out_zero_point;
    int16_t act_min, act_max;
} cortexm_requantize_t;

/* dequantize: (in[i] - zero_point) * scale */
typedef struct {
    int32_t count;
    float scale;
    int16_t zero_point;
} cortexm_dequantize_t;

/* fill: out[i] = value, by element size */
typedef struct {
    int32_t count;
    int32_t value;
} cortexm_fill_t;

/* move: count bytes to a lower address; the two places may overlap */
typedef struct {
    int32_t count;
} cortexm_move_t;

/* interleave: out[2 * i] = a[i], out[2 * i + 1] = b[i], for i in [0, count) */
typedef struct {
    int32_t count;
} cortexm_interleave_t;

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

/* copy_lanes: a copy in vectors of lanes, which the plan makes of its box. For every index of the outer
 * dimensions, and for each of `runs`, element i of a run is lane i % lanes of vector i / lanes, and
 *
 *     out[vector * out_step + out_lanes[lane]] = in[vector * in_step + in_lanes[lane]]
 *
 * `way` says how many lanes there are, and which of the tables are read. */
enum {
    CORTEXM_LANES_IN_ONE_PIECE,          /* a run lies side by side in both, and has no steps */
    CORTEXM_LANES_GATHERED,              /* 16 lanes, of bytes, which lie side by side in the result */
    CORTEXM_LANES_SCATTERED,             /* 16 lanes, of bytes */
    CORTEXM_LANES_GATHERED_BY_EIGHTS,    /* 8 lanes, which lie side by side in the result */
    CORTEXM_LANES_SCATTERED_BY_EIGHTS,   /* 8 lanes */
    CORTEXM_LANES_ONE_BY_ONE             /* a single lane, without tables */
};

#define CORTEXM_LANES_MAX_RANK 6 /* two less than of a copy, which are a run and its rows */
typedef struct {
    int32_t way;
    int32_t count;             /* elements of a run, 0 or more */
    int32_t in_step;           /* bytes from vector to vector */
    int32_t out_step;
    int32_t runs;              /* 1 or more */
    int32_t in_run;            /* bytes from run to run */
    int32_t out_run;
    int32_t outer_rank;        /* 0 ... 6 */
    int32_t outer_dims[CORTEXM_LANES_MAX_RANK];   /* 1 or more */
    int32_t in_outer[CORTEXM_LANES_MAX_RANK];     /* bytes */
    int32_t out_outer[CORTEXM_LANES_MAX_RANK];
    uint8_t in_lanes[16];      /* elements from the first one's place: 8 bits a lane, 16 of 8 lanes */
    uint8_t out_lanes[16];
} cortexm_copy_lanes_t;

/* -- float32, and integers that are no codes ----------------------------------------------------- */

/* A function of every element. */
typedef struct {
    int32_t count;
    float alpha;               /* leaky_relu: slope below 0; elu: factor of exp(x) - 1 */
    float scale, input_scale;  /* elu: factors of the result and of the exponent */
} cortexm_unary_f32_t;

/* clamp: min(max(in[i], low), high). Bounds are values of the element type; an infinite one does not
 * act, and a NaN stays. */
typedef struct {
    int32_t count;
    float low, high;
} cortexm_clamp_f32_t;

typedef struct {
    int32_t count;
    int64_t low, high;
} cortexm_clamp_t;

/* Kernels that broadcast walk boxes of up to this many dimensions in C order, outermost dimension first.
 * Rank 0 is one element. Strides are in elements, 0 where an operand repeats. */
#define CORTEXM_BOX_MAX_RANK 8

/* Two operands that broadcast: the result is dense, extents dims[0..rank), innermost last; operand a
 * advances by a_stride[d] elements along dimension d, 0 where it repeats. */
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t a_stride[CORTEXM_BOX_MAX_RANK];
    int32_t b_stride[CORTEXM_BOX_MAX_RANK];
} cortexm_binary_t;

/* conv2d and transpose_conv2d of floats. Taps outside the image are left out. Sums begin with the
 * bias and take the taps in the order of the weights: channel, row, column. */
typedef struct {
    int32_t batches;
    int32_t in_h, in_w, out_h, out_w;
    int32_t in_c, out_c;       /* channels of all groups */
    int32_t groups;            /* divides both */
    int32_t kernel_h, kernel_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left; /* transpose_conv2d: cut off the full result; may be negative */
    int32_t in_strides[4];     /* from one image, channel, row, column to the next, in elements */
    int32_t out_strides[4];
    int32_t bias_stride;       /* 1, or 0 for one value that serves all channels */
    int32_t filled;            /* conv2d, mve: 1 if the weights are packed as "float_filled" */
} cortexm_conv_f32_t;

/* avg_pool2d and max_pool2d of floats. The window of output (y, x) begins at input row
 * y * stride_h - pad_top, and likewise for columns. */
typedef struct {
    int32_t batches, channels;
    int32_t in_h, in_w, out_h, out_w;
    int32_t kernel_h, kernel_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;   /* 1 in averages */
    int32_t pad_top, pad_left;
    int32_t count_pad_h, count_pad_w; /* averages: rows and columns around the image that count in
                                       * the divisor, as zeros; 0 where padding does not count */
    int32_t divisor;                  /* averages: divides every sum; 0: the number of pixels */
    int32_t in_strides[4];
    int32_t out_strides[4];
} cortexm_pool_f32_t;

/* matmul: out[i][r][c] = bias + sum_k a[i][r][k] * b[i][k][c], out dense. Strides are in elements;
 * 0 repeats. Sums begin with the bias and take k upwards. */
typedef struct {
    int32_t batches, rows, cols, inner;
    int32_t a_batch_stride, a_row_stride, a_inner_stride;
    int32_t b_batch_stride, b_inner_stride, b_col_stride;
    int32_t bias_batch_stride, bias_row_stride, bias_col_stride;
} cortexm_matmul_f32_t;

/* softmax and log_softmax over `size` elements that lie `inner` apart, for outer * inner such columns */
typedef struct {
    int32_t outer, size, inner;
} cortexm_softmax_f32_t;

/* group_norm: every group of `channels` channels of `pixels` elements gets mean 0 and variance 1, then
 * weight[g * channels + c] and bias likewise. Sums go over channels, then pixels. layer_norm is the
 * case of one group in each of `batches` rows, with channels of one pixel. */
typedef struct {
    int32_t batches, groups, channels, pixels;
    int32_t in_batch_stride, in_channel_stride, in_pixel_stride;
    int32_t out_batch_stride, out_channel_stride, out_pixel_stride;
    float epsilon;             /* added to the variance */
} cortexm_group_norm_f32_t;

/* group_norm of codes. Each of batches * groups rows of outer * inner codes gets mean 0 and variance 1, or
 * mean square 1 if not `centred`, then the factor and offset of its element: those of an element lie
 * group * factor_group_stride + i * factor_outer_stride + k * factor_inner_stride behind the first ones.
 * Strides are in elements; in_inner_stride is at most 8192. factor_inner_stride is 1, and factor_outer_stride 0, or
 * 0, and a group begins where the one before it ends. See kernels/README.md for the formula. */
typedef struct {
    int32_t batches, groups, outer, inner;
    int32_t in_batch_stride, in_group_stride, in_outer_stride, in_inner_stride;
    int32_t out_batch_stride, out_group_stride, out_outer_stride, out_inner_stride;
    int32_t factor_group_stride, factor_outer_stride, factor_inner_stride;
    int32_t size, bits;        /* outer * inner, up to 65,535, and how many bits it has */
    uint32_t mantissa;         /* size * 2^(32 - bits) */
    uint32_t inverse;          /* floor(2^(30 + bits) / size) */
    uint32_t epsilon_high, epsilon_low; /* size^2 * epsilon / scale^2 * 2^(62 - 2 * bits - 16), or
                                  * - 30 for int16, up to 2^62: upper and lower half */
    int32_t zero_point;        /* of the operand, 0 of int16; has no part if centred */
    int32_t centred;           /* 0 or 1 */
    int32_t shift;             /* 0 ... 24 */
} cortexm_group_norm_t;

/* where: out[k] = condition[sum i*condition_stride] != 0 ? a[sum i*a_stride]
 * : b[sum i*b_stride], for the k-th index i of the box */
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t condition_stride[CORTEXM_BOX_MAX_RANK];
    int32_t a_stride[CORTEXM_BOX_MAX_RANK];
    int32_t b_stride[CORTEXM_BOX_MAX_RANK];
} cortexm_where_t;

/* amax, amin, sum, mean, argmax, argmin: out[k] is the k-th index i of the box of dims, reduced over
 * in[sum i*stride + sum j*reduced_stride] for all j of the box of reduced_dims, in C order */
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t stride[CORTEXM_BOX_MAX_RANK];
    int32_t reduced_rank;
    int32_t reduced_dims[CORTEXM_BOX_MAX_RANK];
    int32_t reduced_stride[CORTEXM_BOX_MAX_RANK];
} cortexm_reduce_t;

/* cumsum: for every index of the box, running sums over `size` elements that lie in_step and out_step
 * apart */
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t in_stride[CORTEXM_BOX_MAX_RANK];
    int32_t out_stride[CORTEXM_BOX_MAX_RANK];
    int32_t size, in_step, out_step;
} cortexm_cumsum_t;

/* topk: for every index of the box, the k best of `size` elements that lie in_step apart, best first, to
 * values value_step apart, and their numbers in [0, size) to indices index_step apart. Of equal ones
 * that with the lower number is better; a NaN is larger than all else. */
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t in_stride[CORTEXM_BOX_MAX_RANK];
    int32_t value_stride[CORTEXM_BOX_MAX_RANK];
    int32_t index_stride[CORTEXM_BOX_MAX_RANK];
    int32_t size, k;           /* 1 <= k <= size */
    int32_t in_step, value_step, index_step;
    int32_t largest;           /* 1: the largest are best, 0: the smallest */
} cortexm_topk_t;

/* cast: out[i] = in[i], converted */
typedef struct {
    int32_t count;
} cortexm_cast_t;

/* index_offsets: offsets[k] = step * at, or that added to offsets[k], where `at` is the index element
 * index[sum i*stride]; `size` is added to negative ones, and what is still outside of [0, size) is
 * brought to the nearest end */
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t stride[CORTEXM_BOX_MAX_RANK];
    int32_t size, step;
    int32_t add;               /* 1: add to offsets, 0: overwrite them */
} cortexm_index_offsets_t;

/* gather: out[k] = in[offsets[sum i*offset_stride] + sum i*in_stride] */
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t offset_stride[CORTEXM_BOX_MAX_RANK];
    int32_t in_stride[CORTEXM_BOX_MAX_RANK];
} cortexm_gather_t;

/* embedding: row `at` of a table of codes, at = rows[i], as out[i]: clamp(((code * multiplier[at] +
 * 2^(shift - 1)) >> shift) + out_zero_point). The table is in blocks of 2^block_shift rows, and then those
 * that are left. places[j * columns + k] says where code k of row j of a block lies, and behind them of the
 * rows that are left: 4 * its byte in the block, 2 if it is in the upper half of this, and 1 if it is a code
 * in two's complement and not one raised by half of its range. */
typedef struct {
    const int32_t *multiplier; /* [rows], 0 ... 2^23 - 1 */
    int32_t count, rows, columns;
    int32_t block_shift;       /* 0 ... 3 */
    int32_t block_size;        /* bytes, below 2^14 */
    int32_t bits;              /* of a code: 8 or 4 */
    int32_t shift;             /* 1 ... 30 */
    int32_t out_zero_point, act_min, act_max;
} cortexm_embedding_t;

/* scatter, scatter_add: out[offsets[sum i*offset_stride] + sum i*out_stride] is set to, or increased
 * by, values[sum i*value_stride], for all i in C order */
typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t offset_stride[CORTEXM_BOX_MAX_RANK];
    int32_t value_stride[CORTEXM_BOX_MAX_RANK];
    int32_t out_stride[CORTEXM_BOX_MAX_RANK];
} cortexm_scatter_t;

/* put: out[block * pitch + at * width + i] = values[block * width + i] for all blocks and 0 <= i < width, in
 * bytes. `at` is the index, from the end if it is negative, or else the nearest one below `size`. */
typedef struct {
    int32_t size;
    int32_t blocks;
    int32_t width, pitch;
} cortexm_put_t;

/* lstm, gru, rnn: all steps of a sequence, of int8 and int16 codes. Strides are in elements; without a
 * sequence as result y_step is 0, and `y` is h after the last step, or of gru NULL. Gates, biases and rows of weights
 * come in blocks of four cells (the last one of those that are left): for each gate a row of each cell.
 * Sums times gates[o] times 2^(gate_left - gate_right - 16) are in units of 2^-16 of a tanh's argument,
 * of 2^-15 of a sigmoid's. No sum shifted by gate_left needs more than 32 bits. */
typedef struct {
    const int16_t *gates;      /* [lstm 4, gru 4, rnn 1 times hidden], 0 ... 2^15 - 1; gru: r and z, and
                                * then the parts of n, of x and of h */
    const int8_t *x_weight;    /* those of x, of gru in r and z, if others are those of h alone; else NULL */
    int32_t h_shift;           /* 0 ... 15, beside x_weight: products with h are divided by 2^h_shift */
    int32_t steps, batches, inputs, hidden;
    int32_t x_start, x_batch, x_step; /* of the first step, from batch to batch and step to step */
    int32_t y_start, y_batch, y_step;
    int16_t out_multiplier;    /* 0 ... 2^15 - 1, of h */
    int8_t out_shift;          /* 1 ... 22, to the right */
    int8_t out_zero_point;
    int8_t gate_left, gate_right; /* 0 ... 15, one of them 0; gate_right only of int16 codes */
    int8_t state_bits;         /* of lstm's c and gru's h, 0 ... 15: their scale is 2^-state_bits */
    int8_t is_relu;            /* rnn: max(x, 0) in the place of tanh(x) */
} cortexm_recurrent_t;

/* lstm_interpolated: gates i, f, g, o, with weights [4][hidden][inputs + hidden] and biases [4][hidden][2], of the
 * products of x and of h. These are requantized to 16 bits in units of 2^-12 and added; functions are those of
 * activation/sigmoid.h, in Q15. What cells keep and what is fresh have the scale of c. Strides are in elements. */
typedef struct {
    int32_t steps, batches, inputs, hidden;
    int32_t x_batch, x_step, y_batch, y_step;
    int32_t x_multiplier[4], h_multiplier[4];
    int32_t fresh_multiplier, fresh_shift; /* of i * g, to c */
    int32_t out_multiplier, out_shift;     /* of o * tanh(c), to h */
    int32_t cell_limit;        /* of the absolute value of c, 0 ... 2^15 */
    int16_t cell_multiplier;   /* c times it, divided by 2^cell_shift, is in units of 1 / 12288 */
    int8_t cell_shift;         /* 0 ... 31 */
    int8_t out_zero_point;
    int8_t x_shift[4], h_shift[4];
} cortexm_lstm_interpolated_t;

/* svdf: of each of units * rank filters a feature, start + the products of the inputs with its row of weights, goes
 * behind those of the calls before, of which there are `memory` with it. The sum of a unit is its bias and the
 * products of the features of its filters with `times`, modulo 2^32. */
typedef struct {
    int32_t batches, inputs, units, rank, memory; /* at least 1 */
    int32_t multiplier, shift;         /* of features, which are limited to 16 bits */
    int32_t out_multiplier, out_shift; /* of sums */
    int32_t out_zero_point;
} cortexm_svdf_t;

/* bilinear: `planes` images of out_h rows of out_w pixels of `inner` neighbours (NHWC: batches and
 * channels; NCHW: batches times channels, and 1). Row y lies between the input rows that begin at
 * row_low[y] and row_high[y], nearer to the latter by row_weight[y]; columns likewise. */
typedef struct {
    const int32_t *row_low, *row_high; /* [out_h], in elements */
    const int32_t *col_low, *col_high; /* [out_w], in elements */
    const float *row_weight;   /* [out_h], in [0, 1] */
    const float *col_weight;   /* [out_w] */
    int32_t planes, plane_stride;
    int32_t out_h, out_w, inner;
} cortexm_bilinear_f32_t;

/* The same on codes of 8 or 16 bits, with weights in units of 2^-11; ties go to the even distance from
 * zero_point, or away from 0. */
typedef struct {
    const int32_t *row_low, *row_high;
    const int32_t *col_low, *col_high;
    const int16_t *row_weight, *col_weight;
    int32_t planes, plane_stride;
    int32_t out_h, out_w, inner;
    int16_t zero_point;        /* 0 if `away` */
    int16_t away;
} cortexm_bilinear_codes_t;

/* log_mel: of each of `signals` rows of samples the frames that begin at start + f * hop, and of each
 * frame the bands of its spectrum, out [signals][frames][bands]. Scratch: points + 2 words. */
typedef struct {
    const int16_t *window;     /* [frame] Q15 */
    const int32_t *roots;      /* [points / 4][2] cos and sin of 2 pi k / points, Q31 */
    const int16_t *bins;       /* [bands][2] first bin, and how many, at least 1 */
    const int16_t *weights;    /* of the bins of all bands, from 0 on */
    const int32_t *gains;      /* [bands] */
    const int64_t *offsets;    /* [bands] code = (log2 in Q16 * gain + offset) / 2^gain_shift */
    uint64_t least_high;       /* 2^32 * least_high + least_low, below 2^92, is added to each sum, */
    uint32_t least_low;        /* or is the least that it counts for */
    uint64_t under_root;       /* added to the squares of magnitudes before their root: below 2^62 */
    int32_t signals, samples;
    int32_t start, hop, frames;
    uint16_t frame, points;    /* frame <= points, a power of two from 64 to 2048 */
    uint16_t bands;
    int16_t act_min, act_max;
    uint8_t shift;             /* bits that samples times window lose: 1 to 30 */
    uint8_t gain_shift;        /* 32 to 62 */
    uint8_t adds;              /* whether `least` is added */
    uint8_t square_roots;      /* whether bands are of magnitudes, not of their squares */
} cortexm_log_mel_t;

#ifdef __cplusplus
}
#endif

#endif
