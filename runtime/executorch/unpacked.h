/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that take weights, biases and layouts as an ExecuTorch program carries them: nothing packed,
 * nothing folded, images with any strides. The compiled plan's kernels want constants that the build
 * has prepared; a program that ExecuTorch loads has none, and its weights must not be stored twice.
 */
#ifndef CORTEXM_EXECUTORCH_UNPACKED_H
#define CORTEXM_EXECUTORCH_UNPACKED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Batch, row, column and channel of an image; strides in elements. */
typedef struct {
    int8_t *data;
    int32_t sizes[4];
    int32_t strides[4];
} cortexm_et_image_t;

/* The window of output (y, x) begins at input row y * stride_h - pad_h, and likewise for columns;
 * transposed convolution: the window of input (y, x), in the output. */
typedef struct {
    cortexm_et_image_t in, out;
    int32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
} cortexm_et_windows_t;

/* The requantization that a program states. It may have any shift to the right, also for channels whose
 * weights are all zero; from -32 on the result is zero, as it is with the multiplier 0. */
typedef struct {
    int32_t multiplier, shift;
} cortexm_et_rescaling_t;

static inline cortexm_et_rescaling_t cortexm_et_rescaling(int32_t multiplier, int32_t shift)
{
    const cortexm_et_rescaling_t stated = {multiplier, shift};
    const cortexm_et_rescaling_t zero = {0, -31};

    return shift >= -31 ? stated : zero;
}

/* Result: requantize(bias + sum (in + in_offset) * weight) + out_offset, clamped. */
typedef struct {
    cortexm_et_windows_t windows;
    const int8_t *weight;
    const int32_t *bias;       /* [out channels], or NULL for zeros */
    const int32_t *multiplier; /* [out channels] */
    const int32_t *shift;      /* [out channels] */
    int32_t depth;             /* conv2d: channels of a group */
    int32_t in_offset, out_offset, act_min, act_max;
} cortexm_et_conv_t;

/* weight [out][kernel_h][kernel_w][depth] */
void cortexm_et_conv2d(const cortexm_et_conv_t *conv);
/* weight [kernel_h][kernel_w][out]; output channel o reads input channel o / (out / in) */
void cortexm_et_depthwise_conv2d(const cortexm_et_conv_t *conv);
/* weight [out][kernel_h][kernel_w][in] */
void cortexm_et_transpose_conv2d(const cortexm_et_conv_t *conv);

/* sum of the codes in the image divided by their number, ties away from zero */
void cortexm_et_avg_pool2d(const cortexm_et_windows_t *windows);
/* the largest code in the image, clamped */
void cortexm_et_max_pool2d(const cortexm_et_windows_t *windows, int32_t act_min, int32_t act_max);

/* out[r][o] = requantize(base[o] + sum_k (in[r][k] + in_offset) * (weight[o][k] + weight_offset)) */
typedef struct {
    const int8_t *in, *weight;
    const int32_t *base;       /* [out_features], or NULL for zeros */
    int8_t *out;
    int32_t rows, in_features, out_features;
    int32_t multiplier, shift;
    int32_t in_offset, weight_offset, out_offset, act_min, act_max;
} cortexm_et_linear_t;

void cortexm_et_linear(const cortexm_et_linear_t *linear);

#ifdef __cplusplus
}
#endif

#endif
