/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our parameter blocks in CMSIS-NN's words: extents, quantization, and what its functions want as
 * scratch memory. Shared by the adapters and by the check that a generated NAME_cmsis_nn.c makes of
 * the library it finds.
 *
 * Constants of a convolution, packed by plan/kernels/packing.py: `multiplier` holds the multipliers of all
 * channels and then their shifts, both in 32 bits and each filled up to a multiple of four; biases do
 * not contain the zero point. Those of a linear layer do. Of layers of int16 codes biases have 64 bits.
 */
#ifndef CORTEXM_CMSIS_NN_H
#define CORTEXM_CMSIS_NN_H

#include <stddef.h>

#include "arm_nnfunctions.h"
#include "cortexm/kernels.h"

static inline cmsis_nn_dims cortexm_nn_dims(int32_t n, int32_t h, int32_t w, int32_t c)
{
    return (cmsis_nn_dims){.n = n, .h = h, .w = w, .c = c};
}

static inline cmsis_nn_tile cortexm_nn_tile(int32_t h, int32_t w)
{
    return (cmsis_nn_tile){.w = w, .h = h};
}

static inline cmsis_nn_activation cortexm_nn_clamp(int32_t lowest, int32_t largest)
{
    return (cmsis_nn_activation){.min = lowest, .max = largest};
}

/* CMSIS-NN declares some arrays that it only reads without const. */
static inline int32_t *cortexm_nn_words(const int32_t *words)
{
    return (int32_t *)(uintptr_t)words;
}

/* `multiplier` as above, for so many channels. */
static inline cmsis_nn_per_channel_quant_params cortexm_nn_quant(const int32_t *multiplier,
                                                                 int32_t channels)
{
    return (cmsis_nn_per_channel_quant_params){
        .multiplier = cortexm_nn_words(multiplier),
        .shift = cortexm_nn_words(multiplier + (channels + 3) / 4 * 4),
    };
}

/*
 * Of int16 codes requantizations are as our kernels have them, for each channel 16 bits of multiplier
 * and 8 of shift. What the library wants is written to the beginning of the scratch memory.
 */

/* Bytes that these take, each filled up to a multiple of four. */
static inline int32_t cortexm_nn_wide_quant_bytes(int32_t channels)
{
    return 2 * 4 * ((channels + 3) / 4 * 4);
}

static inline cmsis_nn_per_channel_quant_params
cortexm_nn_wide_quant(const int16_t *multiplier, const int8_t *shift, int32_t channels, void *scratch)
{
    const int32_t filled = (channels + 3) / 4 * 4;
    int32_t *const words = scratch;

    for (int32_t c = 0; c < filled; c++) {
        words[c] = c < channels ? multiplier[c] * 65536 : 0;
        words[filled + c] = c < channels ? shift[c] : 0;
    }
    return (cmsis_nn_per_channel_quant_params){.multiplier = words, .shift = words + filled};
}

/* -- Convolutions -------------------------------------------------------------------------------- */

static inline cmsis_nn_dims cortexm_nn_conv_in(const cortexm_conv_s8_t *p)
{
    return cortexm_nn_dims(1, p->in_h, p->in_w, p->in_c);
}

static inline cmsis_nn_dims cortexm_nn_conv_out(const cortexm_conv_s8_t *p)
{
    return cortexm_nn_dims(1, p->out_h, p->out_w, p->out_c);
}

static inline cmsis_nn_dims cortexm_nn_conv_bias(const cortexm_conv_s8_t *p)
{
    return cortexm_nn_dims(1, 1, 1, p->out_c);
}

/* conv2d and transpose_conv2d: outputs, rows, columns, inputs. */
static inline cmsis_nn_dims cortexm_nn_conv_filter(const cortexm_conv_s8_t *p)
{
    return cortexm_nn_dims(p->out_c, p->kernel_h, p->kernel_w, p->in_c / p->groups);
}

/* depthwise_conv2d: one, rows, columns, outputs. */
static inline cmsis_nn_dims cortexm_nn_depthwise_filter(const cortexm_conv_s8_t *p)
{
    return cortexm_nn_dims(1, p->kernel_h, p->kernel_w, p->out_c);
}

static inline cmsis_nn_conv_params cortexm_nn_conv_params(const cortexm_conv_s8_t *p)
{
    return (cmsis_nn_conv_params){
        .input_offset = -p->in_zero_point,
        .output_offset = p->out_zero_point,
        .stride = cortexm_nn_tile(p->stride_h, p->stride_w),
        .padding = cortexm_nn_tile(-p->in_y0, -p->in_x0),
        .dilation = cortexm_nn_tile(p->dilation_h, p->dilation_w),
        .activation = cortexm_nn_clamp(p->act_min, p->act_max),
    };
}

static inline cmsis_nn_dw_conv_params cortexm_nn_depthwise_params(const cortexm_conv_s8_t *p)
{
    return (cmsis_nn_dw_conv_params){
        .input_offset = -p->in_zero_point,
        .output_offset = p->out_zero_point,
        .ch_mult = p->out_c / p->in_c,
        .stride = cortexm_nn_tile(p->stride_h, p->stride_w),
        .padding = cortexm_nn_tile(-p->in_y0, -p->in_x0),
        .dilation = cortexm_nn_tile(p->dilation_h, p->dilation_w),
        .activation = cortexm_nn_clamp(p->act_min, p->act_max),
    };
}

static inline cmsis_nn_transpose_conv_params
cortexm_nn_transpose_params(const cortexm_conv_s8_t *p)
{
    return (cmsis_nn_transpose_conv_params){
        .input_offset = -p->in_zero_point,
        .output_offset = p->out_zero_point,
        .stride = cortexm_nn_tile(p->stride_h, p->stride_w),
        .padding = cortexm_nn_tile(-p->in_y0, -p->in_x0),
        .padding_offsets = cortexm_nn_tile(0, 0),
        .dilation = cortexm_nn_tile(p->dilation_h, p->dilation_w),
        .activation = cortexm_nn_clamp(p->act_min, p->act_max),
    };
}

/* The extents of a convolution of int16 codes; the clamp would not fit. */
static inline cortexm_conv_s8_t cortexm_nn_extents(const cortexm_conv_s16_t *p)
{
    return (cortexm_conv_s8_t){
        .in_h = p->in_h,
        .in_w = p->in_w,
        .out_h = p->out_h,
        .out_w = p->out_w,
        .in_y0 = p->in_y0,
        .in_x0 = p->in_x0,
        .in_c = p->in_c,
        .out_c = p->out_c,
        .kernel_h = p->kernel_h,
        .kernel_w = p->kernel_w,
        .stride_h = p->stride_h,
        .stride_w = p->stride_w,
        .dilation_h = p->dilation_h,
        .dilation_w = p->dilation_w,
        .groups = p->groups,
    };
}

/* -- Bytes of scratch memory that the library says it needs --------------------------------------- */

static inline int32_t cortexm_nn_conv2d_s8_scratch(const cortexm_conv_s8_t *p)
{
    const cmsis_nn_conv_params conv = cortexm_nn_conv_params(p);
    const cmsis_nn_dims in = cortexm_nn_conv_in(p);
    const cmsis_nn_dims filter = cortexm_nn_conv_filter(p);
    const cmsis_nn_dims out = cortexm_nn_conv_out(p);

#ifdef __ARMCC_VERSION
    /* There is a second function for these, which does with less memory where it gets none. */
    if (p->kernel_h == 1 && p->kernel_w == 1 && p->in_y0 == 0 && p->in_x0 == 0) {
        return 0;
    }
#endif
    return arm_convolve_wrapper_s8_get_buffer_size(&conv, &in, &filter, &out);
}

static inline int32_t cortexm_nn_depthwise_conv2d_s8_scratch(const cortexm_conv_s8_t *p)
{
    const cmsis_nn_dw_conv_params conv = cortexm_nn_depthwise_params(p);
    const cmsis_nn_dims in = cortexm_nn_conv_in(p);
    const cmsis_nn_dims filter = cortexm_nn_depthwise_filter(p);
    const cmsis_nn_dims out = cortexm_nn_conv_out(p);

    return arm_depthwise_conv_wrapper_s8_get_buffer_size(&conv, &in, &filter, &out);
}

/* transpose_conv2d has two buffers. The first one comes first, filled up to whole words. */
static inline int32_t cortexm_nn_transpose_rows(const cortexm_conv_s8_t *p)
{
    const cmsis_nn_transpose_conv_params conv = cortexm_nn_transpose_params(p);
    const cmsis_nn_dims in = cortexm_nn_conv_in(p);
    const cmsis_nn_dims filter = cortexm_nn_conv_filter(p);
    const cmsis_nn_dims out = cortexm_nn_conv_out(p);

    return (arm_transpose_conv_s8_get_buffer_size(&conv, &in, &filter, &out) + 3) / 4 * 4;
}

static inline int32_t cortexm_nn_transpose_conv2d_s8_scratch(const cortexm_conv_s8_t *p)
{
    const cmsis_nn_transpose_conv_params conv = cortexm_nn_transpose_params(p);
    const cmsis_nn_dims in = cortexm_nn_conv_in(p);
    const cmsis_nn_dims filter = cortexm_nn_conv_filter(p);

    return cortexm_nn_transpose_rows(p) +
           arm_transpose_conv_s8_get_reverse_conv_buffer_size(&conv, &in, &filter);
}

static inline int32_t cortexm_nn_batch_matmul_s8_scratch(const cortexm_batch_matmul_s8_t *p)
{
    const cmsis_nn_dims rhs = cortexm_nn_dims(1, 1, p->inner, p->cols);

    return arm_fully_connected_s8_get_buffer_size(&rhs);
}

static inline int32_t cortexm_nn_avg_pool2d_s8_scratch(const cortexm_pool_s8_t *p)
{
    return arm_avgpool_s8_get_buffer_size((int)p->out_w, p->channels);
}

/* With weights of 4 bits. */

static inline int32_t cortexm_nn_conv2d_s8w4_scratch(const cortexm_conv_s8_t *p)
{
    const cmsis_nn_conv_params conv = cortexm_nn_conv_params(p);
    const cmsis_nn_dims in = cortexm_nn_conv_in(p);
    const cmsis_nn_dims filter = cortexm_nn_conv_filter(p);
    const cmsis_nn_dims out = cortexm_nn_conv_out(p);

    return arm_convolve_wrapper_s4_get_buffer_size(&conv, &in, &filter, &out);
}

static inline int32_t cortexm_nn_depthwise_conv2d_s8w4_scratch(const cortexm_conv_s8_t *p)
{
    const cmsis_nn_dw_conv_params conv = cortexm_nn_depthwise_params(p);
    const cmsis_nn_dims in = cortexm_nn_conv_in(p);
    const cmsis_nn_dims filter = cortexm_nn_depthwise_filter(p);
    const cmsis_nn_dims out = cortexm_nn_conv_out(p);

    return arm_depthwise_conv_wrapper_s4_get_buffer_size(&conv, &in, &filter, &out);
}

/* Of int16 codes, behind the requantizations. */

static inline int32_t cortexm_nn_conv2d_s16_scratch(const cortexm_conv_s16_t *p)
{
    const cortexm_conv_s8_t extents = cortexm_nn_extents(p);
    const cmsis_nn_conv_params conv = cortexm_nn_conv_params(&extents);
    const cmsis_nn_dims in = cortexm_nn_conv_in(&extents);
    const cmsis_nn_dims filter = cortexm_nn_conv_filter(&extents);
    const cmsis_nn_dims out = cortexm_nn_conv_out(&extents);

    return cortexm_nn_wide_quant_bytes(p->out_c) +
           arm_convolve_wrapper_s16_get_buffer_size(&conv, &in, &filter, &out);
}

static inline int32_t cortexm_nn_depthwise_conv2d_s16_scratch(const cortexm_conv_s16_t *p)
{
    const cortexm_conv_s8_t extents = cortexm_nn_extents(p);
    const cmsis_nn_dw_conv_params conv = cortexm_nn_depthwise_params(&extents);
    const cmsis_nn_dims in = cortexm_nn_conv_in(&extents);
    const cmsis_nn_dims filter = cortexm_nn_depthwise_filter(&extents);
    const cmsis_nn_dims out = cortexm_nn_conv_out(&extents);

    return cortexm_nn_wide_quant_bytes(p->out_c) +
           arm_depthwise_conv_wrapper_s16_get_buffer_size(&conv, &in, &filter, &out);
}

static inline int32_t cortexm_nn_avg_pool2d_s16_scratch(const cortexm_pool_s16_t *p)
{
    return arm_avgpool_s16_get_buffer_size((int)p->out_w, p->channels);
}

/*
 * CMSIS-NN's addition and multiplication take two operands of one length. An operand that repeats is
 * given to them run by run; the plan has made sure that the other one does not repeat.
 */

/* Elements that are calculated by one call. */
static inline int32_t cortexm_nn_run(int32_t a_period, int32_t b_period)
{
    return a_period < b_period ? a_period : b_period;
}

/* How far an operand goes on from one run to the next: nowhere, if it repeats in each. */
static inline int32_t cortexm_nn_step(int32_t period, int32_t run)
{
    return period > run ? run : 0;
}

#endif
