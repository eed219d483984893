/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz [cases [seed]]: compares every kernel with its reference on so many random cases. Prints the
 * kernels and seeds of cases that differ; the exit status says whether there were any.
 *
 * Meant to be built with sanitizers. Built for a core with DSP or MVE it takes those variants too
 * (FUZZ_DSP, FUZZ_MVE); bare metal has no arguments, so FUZZ_CASES is their number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "data_kernels.h"
#include "float_kernels.h"
#include "ref.h"

#define conv_case_conv(variant, ref) conv_case(variant, ref, CONV_FOURS)
#define conv_case_gemm4(variant, ref) conv_case(variant, ref, CONV_GEMM4)
#define conv_case_twos(variant, ref) conv_case(variant, ref, CONV_TWOS)
#define conv_case_depthwise(variant, ref) conv_case(variant, ref, DEPTHWISE_TAP_FOURS)
#define conv_case_window_rows(variant, ref) conv_case(variant, ref, DEPTHWISE_WINDOW_ROWS)
#define conv_case_depthwise8(variant, ref) conv_case(variant, ref, DEPTHWISE8)
#define conv_case_transpose(variant, ref) conv_case(variant, ref, TRANSPOSE)
#define conv_case_phases_gemm4(variant, ref) conv_case(variant, ref, TRANSPOSE_GEMM4)
#define conv_case_phases_pairs(variant, ref) conv_case(variant, ref, TRANSPOSE_PAIRS)
#define batch_matmul_plain_case(variant, ref) batch_matmul_case(variant, ref, BATCH_MATMUL)
#define batch_matmul_sums_case(variant, ref)                                                       \
    batch_matmul_case(variant, ref, BATCH_MATMUL_COLUMN_SUMS)
#define batch_matmul_widened_case(variant, ref)                                                    \
    batch_matmul_case(variant, ref, BATCH_MATMUL_WIDENED)
#define fill_case_1(variant, ref) fill_case(variant, ref, 1)
#define fill_case_2(variant, ref) fill_case(variant, ref, 2)
#define fill_case_4(variant, ref) fill_case(variant, ref, 4)
#define copy_case_1(variant, ref) copy_case(variant, ref, 1)
#define copy_case_2(variant, ref) copy_case(variant, ref, 2)
#define copy_case_4(variant, ref) copy_case(variant, ref, 4)
#define copy_case_8(variant, ref) copy_case(variant, ref, 8)

/* The kernels, and how a random case of each is run. */
#define SCALAR_KERNELS(K)                                                                          \
    K(conv2d_s8, scalar, conv_case_conv)                                                           \
    K(depthwise_conv2d_s8, scalar, conv_case_depthwise)                                            \
    K(transpose_conv2d_s8, scalar, conv_case_transpose)                                            \
    K(linear_s8, scalar, linear_fours_case)                                                        \
    K(batch_matmul_s8, scalar, batch_matmul_plain_case)                                            \
    K(avg_pool2d_s8, scalar, pool_case)                                                            \
    K(max_pool2d_s8, scalar, pool_case)                                                            \
    K(add_s8, scalar, add_case)                                                                    \
    K(mul_s8, scalar, mul_case)                                                                    \
    K(div_s8, scalar, div_s8_case)                                                                 \
    K(div_s16, scalar, div_s16_case)                                                               \
    K(minimum_s8, scalar, minmax_case)                                                             \
    K(maximum_s8, scalar, minmax_case)                                                             \
    K(activation_s8, scalar, activation_case)                                                      \
    K(softmax_s8, scalar, softmax_case)                                                            \
    K(quantize_f32s8, scalar, quantize_s8_case)                                                    \
    K(quantize_f32s16, scalar, quantize_s16_case)                                                  \
    K(dequantize_s8f32, scalar, dequantize_s8_case)                                                \
    K(dequantize_s16f32, scalar, dequantize_s16_case)                                              \
    K(fill_x8, scalar, fill_case_1)                                                                \
    K(fill_x16, scalar, fill_case_2)                                                               \
    K(fill_x32, scalar, fill_case_4)                                                               \
    K(move_x8, scalar, move_case)                                                                  \
    K(copy_x8, scalar, copy_case_1)                                                                \
    K(copy_x16, scalar, copy_case_2)                                                               \
    K(copy_x32, scalar, copy_case_4)                                                               \
    K(copy_x64, scalar, copy_case_8)

#ifdef FUZZ_DSP
#define DSP_KERNELS(K)                                                                             \
    K(conv2d_s8, dsp, conv_case_twos)                                                             \
    K(depthwise_conv2d_s8, dsp, conv_case_window_rows)                                             \
    K(transpose_conv2d_s8, dsp, conv_case_phases_pairs)                                            \
    K(linear_s8, dsp, linear_pairs_case)                                                           \
    K(batch_matmul_s8, dsp, batch_matmul_widened_case)                                             \
    K(add_s8, dsp, add_shifts_right_case)
#else
#define DSP_KERNELS(K)
#endif

#ifdef FUZZ_MVE
#define MVE_KERNELS(K)                                                                             \
    K(conv2d_s8, mve, conv_case_gemm4)                                                             \
    K(depthwise_conv2d_s8, mve, conv_case_depthwise8)                                              \
    K(transpose_conv2d_s8, mve, conv_case_phases_gemm4)                                            \
    K(move_x8, mve, move_case)                                                                     \
    K(mul_s8, mve, mul_case)                                                                       \
    K(minimum_s8, mve, minmax_case)                                                                \
    K(maximum_s8, mve, minmax_case)                                                                \
    K(avg_pool2d_s8, mve, pool_4_case)                                                             \
    K(max_pool2d_s8, mve, pool_16_case)                                                            \
    K(linear_s8, mve, linear_gemm4_case)                                                           \
    K(batch_matmul_s8, mve, batch_matmul_sums_case)                                                \
    K(add_s8, mve, add_shifts_right_case)                                                          \
    K(quantize_f32s8, mve, quantize_s8_normal_case)                                                \
    K(dequantize_s8f32, mve, dequantize_s8_normal_case)
#else
#define MVE_KERNELS(K)
#endif

#define DEFINE_RUN(name, isa, case_fn)                                                             \
    static int name##_##isa(void)                                                                  \
    {                                                                                              \
        return case_fn(cortexm_##name##_##isa, cortexm_##name##_ref);                              \
    }
#define ENTRY(name, isa, case_fn) {#name "_" #isa, name##_##isa},

SCALAR_KERNELS(DEFINE_RUN)
DATA_KERNELS(DEFINE_RUN)
FLOAT_KERNELS(DEFINE_RUN)
DSP_KERNELS(DEFINE_RUN)
MVE_KERNELS(DEFINE_RUN)

static const struct {
    const char *name;
    int (*run)(void);
} kernels[] = {SCALAR_KERNELS(ENTRY) DATA_KERNELS(ENTRY) FLOAT_KERNELS(ENTRY)
                   DSP_KERNELS(ENTRY) MVE_KERNELS(ENTRY)};

/* Whether a kernel computes several outputs, pixels or inputs in one step. */
static int has_tiles(const char *name)
{
    return strstr(name, "_dsp") != NULL || strstr(name, "_mve") != NULL ||
           strstr(name, "conv2d_s8") != NULL || strstr(name, "linear_s8") != NULL;
}

static int fuzz(unsigned long cases, unsigned long seed)
{
    const size_t count = sizeof kernels / sizeof *kernels;
    int failures = 0;

    for (size_t k = 0; k < count; ++k) {
        for (unsigned long i = 0; i < cases; ++i) {
            seed_cases((uint32_t)(seed + i));
            seed_data_cases((uint32_t)(seed + i));
            seed_float_cases((uint32_t)(seed + i));
            if (!kernels[k].run()) {
                printf("%s differs from its reference: fuzz 1 %lu\n", kernels[k].name, seed + i);
                ++failures;
                break;
            }
        }
    }
    for (size_t k = 0; k < count; ++k) {
        if (!has_tiles(kernels[k].name)) {
            continue;
        }
        for (int32_t i = 0; i < SWEEP; ++i) {
            seed_cases((uint32_t)i);
            sweep_cases(i);
            if (!kernels[k].run()) {
                printf("%s differs from its reference at boundary %d\n", kernels[k].name, (int)i);
                ++failures;
                break;
            }
        }
        sweep_cases(-1);
    }
    printf("%d of %d kernels differ, %lu cases each\n", failures, (int)count, cases);
    return failures != 0;
}

#ifdef FUZZ_CASES
int main(void)
{
    return fuzz(FUZZ_CASES, 0);
}
#else
int main(int argc, char **argv)
{
    return fuzz(argc > 1 ? strtoul(argv[1], NULL, 10) : 200,
                argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
}
#endif
