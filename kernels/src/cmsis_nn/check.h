/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the generated NAME_cmsis_nn.c, which is compiled for its errors only: compares the scratch memory
 * that the plan gives each layer with what the CMSIS-NN beside these headers asks for.
 *
 * The functions that say so are code, but of constants. Included here as sources, for the core and with
 * the macros that the library is built with, they fold to constants when optimized; the call that
 * CORTEXM_NN_NEEDS makes of a size that is too small, or not constant, is an error of the compiler.
 */
#ifndef CORTEXM_CMSIS_NN_CHECK_H
#define CORTEXM_CMSIS_NN_CHECK_H

#include "cmsis_nn.h"

#if !__has_include(<../Source/ConvolutionFunctions/arm_convolve_get_buffer_sizes_s8.c>)
#error "the sources of CMSIS-NN are not beside its headers, so its memory sizes cannot be checked: \
build it from sources (CMSIS_NN_ROOT), or use KERNELS builtin"
#else
#include <../Source/ConvolutionFunctions/arm_convolve_get_buffer_sizes_s16.c>
#include <../Source/ConvolutionFunctions/arm_convolve_get_buffer_sizes_s4.c>
#include <../Source/ConvolutionFunctions/arm_convolve_get_buffer_sizes_s8.c>
#include <../Source/ConvolutionFunctions/arm_depthwise_conv_get_buffer_sizes_s16.c>
#include <../Source/ConvolutionFunctions/arm_depthwise_conv_get_buffer_sizes_s4.c>
#include <../Source/ConvolutionFunctions/arm_depthwise_conv_get_buffer_sizes_s8.c>
#include <../Source/ConvolutionFunctions/arm_transpose_conv_get_buffer_sizes_s8.c>
#include <../Source/FullyConnectedFunctions/arm_fully_connected_get_buffer_sizes_s8.c>
#include <../Source/PoolingFunctions/arm_avgpool_get_buffer_sizes_s16.c>
#include <../Source/PoolingFunctions/arm_avgpool_get_buffer_sizes_s8.c>
#endif

#if !__has_attribute(error)
#error "this compiler has no attribute error, so CMSIS-NN cannot be checked: use KERNELS builtin"
#endif

#ifdef CMSIS_NN_USE_SINGLE_ROUNDING
#error "CMSIS-NN is configured with CMSIS_NN_USE_SINGLE_ROUNDING: its results would not be the model's"
#endif

/* The code that the library's macros choose: 0 plain C, 1 DSP, 2 MVE. */
#if defined(ARM_MATH_MVEI)
#define CORTEXM_NN_CODE 2
#elif defined(ARM_MATH_DSP)
#define CORTEXM_NN_CODE 1
#else
#define CORTEXM_NN_CODE 0
#endif

#define CORTEXM_NN_NEEDS(needed, given, refuse)                                                    \
    do {                                                                                           \
        if ((needed) > (given)) {                                                                  \
            refuse();                                                                              \
        }                                                                                          \
    } while (0)

#endif
