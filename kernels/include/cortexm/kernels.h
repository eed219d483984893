/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels. kernels.json lists them; params.h says what the parameters mean.
 *
 * All variants of a kernel have one prototype and give the same bytes. They read nothing but their
 * arguments, write nothing but `out` and `scratch`, and cannot fail: the plan has proved that shapes
 * and parameters fit, and CORTEXM_ASSERT repeats it in debug builds.
 *
 * Pointers are aligned to the element they point to. `out` overlaps no input, except where a
 * comment says that it may equal one. `bias` is never NULL. `scratch` is NULL where the kernel table
 * asks for none.
 */
#ifndef CORTEXM_KERNELS_H
#define CORTEXM_KERNELS_H

#include "cortexm/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The prototype of each family, so that no variant can differ from the others. */

#define CORTEXM_CONV_S8(name)                                                                      \
    void name(const cortexm_conv_s8_t *params, const int8_t *in, const int8_t *weight,             \
              const int32_t *bias, int8_t *out, void *scratch)

#define CORTEXM_LINEAR_S8(name)                                                                    \
    void name(const cortexm_linear_s8_t *params, const int8_t *in, const int8_t *weight,           \
              const int32_t *bias, int8_t *out, void *scratch)

#define CORTEXM_BATCH_MATMUL_S8(name)                                                              \
    void name(const cortexm_batch_matmul_s8_t *params, const int8_t *lhs, const int8_t *rhs,       \
              int8_t *out, void *scratch)

#define CORTEXM_POOL_S8(name)                                                                      \
    void name(const cortexm_pool_s8_t *params, const int8_t *in, int8_t *out, void *scratch)

#define CORTEXM_ADD_S8(name)                                                                       \
    void name(const cortexm_add_s8_t *params, const int8_t *a, const int8_t *b, int8_t *out)

#define CORTEXM_MUL_S8(name)                                                                       \
    void name(const cortexm_mul_s8_t *params, const int8_t *a, const int8_t *b, int8_t *out)

#define CORTEXM_DIV(name, type)                                                                    \
    void name(const cortexm_div_t *params, const type *a, const type *b, type *out)

#define CORTEXM_MINMAX_S8(name)                                                                    \
    void name(const cortexm_minmax_t *params, const int8_t *a, const int8_t *b, int8_t *out)

#define CORTEXM_ACTIVATION_S8(name)                                                                \
    void name(const cortexm_activation_s8_t *params, const int8_t *in, const int8_t *table,        \
              int8_t *out)

#define CORTEXM_SOFTMAX_S8(name)                                                                   \
    void name(const cortexm_softmax_s8_t *params, const int8_t *in, int8_t *out)

#define CORTEXM_QUANTIZE(name, type)                                                               \
    void name(const cortexm_quantize_t *params, const float *in, type *out)

#define CORTEXM_DEQUANTIZE(name, type)                                                             \
    void name(const cortexm_dequantize_t *params, const type *in, float *out)

#define CORTEXM_FILL(name) void name(const cortexm_fill_t *params, void *out)

#define CORTEXM_COPY(name) void name(const cortexm_copy_t *params, const void *in, void *out)

/* Convolutions. Weights: conv2d [out_c][kernel_h][kernel_w][in_c / groups],
 * depthwise_conv2d [kernel_h][kernel_w][out_c], transpose_conv2d [out_c][kernel_h][kernel_w][in_c]. */
CORTEXM_CONV_S8(cortexm_conv2d_s8_scalar);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_scalar);
CORTEXM_CONV_S8(cortexm_transpose_conv2d_s8_scalar);

/* Matrix products. linear's weights are [out_features][in_features]. */
CORTEXM_LINEAR_S8(cortexm_linear_s8_scalar);
CORTEXM_BATCH_MATMUL_S8(cortexm_batch_matmul_s8_scalar);

/* Pools. Padding counts neither in an average nor in a maximum. A maximum over no pixel at all is
 * act_min; an average always has at least one. */
CORTEXM_POOL_S8(cortexm_avg_pool2d_s8_scalar);
CORTEXM_POOL_S8(cortexm_max_pool2d_s8_scalar);

/* Element by element. `out` may equal an operand whose period is count. */
CORTEXM_ADD_S8(cortexm_add_s8_scalar);
CORTEXM_MUL_S8(cortexm_mul_s8_scalar);
CORTEXM_DIV(cortexm_div_s8_scalar, int8_t);
CORTEXM_DIV(cortexm_div_s16_scalar, int16_t);
CORTEXM_MINMAX_S8(cortexm_minimum_s8_scalar);
CORTEXM_MINMAX_S8(cortexm_maximum_s8_scalar);

/* Activations. `out` may equal `in`. */
CORTEXM_ACTIVATION_S8(cortexm_activation_s8_scalar);
CORTEXM_SOFTMAX_S8(cortexm_softmax_s8_scalar);

/* Between float and codes. An infinity saturates; a NaN becomes the zero point (clamped). */
CORTEXM_QUANTIZE(cortexm_quantize_f32s8_scalar, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s16_scalar, int16_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s8f32_scalar, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s16f32_scalar, int16_t);

/* Moving elements of 1, 2, 4 and 8 bytes, whatever they mean. Where a stride of copy is negative,
 * `in` and `out` point to the element of index 0, which is then not the lowest address. */
CORTEXM_FILL(cortexm_fill_x8_scalar);
CORTEXM_FILL(cortexm_fill_x16_scalar);
CORTEXM_FILL(cortexm_fill_x32_scalar);
CORTEXM_COPY(cortexm_copy_x8_scalar);
CORTEXM_COPY(cortexm_copy_x16_scalar);
CORTEXM_COPY(cortexm_copy_x32_scalar);
CORTEXM_COPY(cortexm_copy_x64_scalar);

#ifdef __cplusplus
}
#endif

#endif
