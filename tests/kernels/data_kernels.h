/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of the families compare, reduce, cast and index, and how a random case of each is run. */
#ifndef CORTEXM_TESTS_DATA_KERNELS_H
#define CORTEXM_TESTS_DATA_KERNELS_H

#include "data_cases.h"

#define DATA_CASE(run, variant, ref, ...) run((kernel_fn)(variant), (kernel_fn)(ref), __VA_ARGS__)

#define compare_s8_case(variant, ref) DATA_CASE(compare_case, variant, ref, S8)
#define compare_s16_case(variant, ref) DATA_CASE(compare_case, variant, ref, S16)
#define compare_s32_case(variant, ref) DATA_CASE(compare_case, variant, ref, S32)
#define compare_s64_case(variant, ref) DATA_CASE(compare_case, variant, ref, S64)
#define compare_u8_case(variant, ref) DATA_CASE(compare_case, variant, ref, U8)
#define compare_f32_case(variant, ref) DATA_CASE(compare_case, variant, ref, F32)
#define where_x8_case(variant, ref) DATA_CASE(where_case, variant, ref, S8)
#define where_x16_case(variant, ref) DATA_CASE(where_case, variant, ref, S16)
#define where_x32_case(variant, ref) DATA_CASE(where_case, variant, ref, S32)
#define where_x64_case(variant, ref) DATA_CASE(where_case, variant, ref, S64)
#define extreme_s8_case(variant, ref) DATA_CASE(extreme_case, variant, ref, S8)
#define extreme_s16_case(variant, ref) DATA_CASE(extreme_case, variant, ref, S16)
#define extreme_s32_case(variant, ref) DATA_CASE(extreme_case, variant, ref, S32)
#define extreme_s64_case(variant, ref) DATA_CASE(extreme_case, variant, ref, S64)
#define extreme_u8_case(variant, ref) DATA_CASE(extreme_case, variant, ref, U8)
#define extreme_f32_case(variant, ref) DATA_CASE(extreme_case, variant, ref, F32)
#define arg_reduce_s8_case(variant, ref) DATA_CASE(arg_reduce_case, variant, ref, S8)
#define arg_reduce_s16_case(variant, ref) DATA_CASE(arg_reduce_case, variant, ref, S16)
#define arg_reduce_s32_case(variant, ref) DATA_CASE(arg_reduce_case, variant, ref, S32)
#define arg_reduce_s64_case(variant, ref) DATA_CASE(arg_reduce_case, variant, ref, S64)
#define arg_reduce_u8_case(variant, ref) DATA_CASE(arg_reduce_case, variant, ref, U8)
#define arg_reduce_f32_case(variant, ref) DATA_CASE(arg_reduce_case, variant, ref, F32)
#define sum_f32_case(variant, ref) DATA_CASE(sum_case, variant, ref, F32)
#define sum_s64_case(variant, ref) DATA_CASE(sum_case, variant, ref, S64)
#define cumsum_s32_case(variant, ref) DATA_CASE(cumsum_case, variant, ref, S32)
#define cumsum_s64_case(variant, ref) DATA_CASE(cumsum_case, variant, ref, S64)
#define cumsum_f32_case(variant, ref) DATA_CASE(cumsum_case, variant, ref, F32)
#define topk_s8_case(variant, ref) DATA_CASE(topk_case, variant, ref, S8)
#define topk_s16_case(variant, ref) DATA_CASE(topk_case, variant, ref, S16)
#define topk_s32_case(variant, ref) DATA_CASE(topk_case, variant, ref, S32)
#define topk_s64_case(variant, ref) DATA_CASE(topk_case, variant, ref, S64)
#define topk_u8_case(variant, ref) DATA_CASE(topk_case, variant, ref, U8)
#define topk_f32_case(variant, ref) DATA_CASE(topk_case, variant, ref, F32)
#define cast_s8_s16_case(variant, ref) DATA_CASE(cast_case, variant, ref, S8, S16)
#define cast_s8_s32_case(variant, ref) DATA_CASE(cast_case, variant, ref, S8, S32)
#define cast_s8_s64_case(variant, ref) DATA_CASE(cast_case, variant, ref, S8, S64)
#define cast_u8_s16_case(variant, ref) DATA_CASE(cast_case, variant, ref, U8, S16)
#define cast_u8_s32_case(variant, ref) DATA_CASE(cast_case, variant, ref, U8, S32)
#define cast_u8_s64_case(variant, ref) DATA_CASE(cast_case, variant, ref, U8, S64)
#define cast_s16_s32_case(variant, ref) DATA_CASE(cast_case, variant, ref, S16, S32)
#define cast_s16_s64_case(variant, ref) DATA_CASE(cast_case, variant, ref, S16, S64)
#define cast_s32_s64_case(variant, ref) DATA_CASE(cast_case, variant, ref, S32, S64)
#define cast_s8_f32_case(variant, ref) DATA_CASE(cast_case, variant, ref, S8, F32)
#define cast_u8_f32_case(variant, ref) DATA_CASE(cast_case, variant, ref, U8, F32)
#define cast_s16_f32_case(variant, ref) DATA_CASE(cast_case, variant, ref, S16, F32)
#define cast_s32_f32_case(variant, ref) DATA_CASE(cast_case, variant, ref, S32, F32)
#define cast_s64_f32_case(variant, ref) DATA_CASE(cast_case, variant, ref, S64, F32)
#define cast_f32_s8_case(variant, ref) DATA_CASE(cast_case, variant, ref, F32, S8)
#define cast_f32_u8_case(variant, ref) DATA_CASE(cast_case, variant, ref, F32, U8)
#define cast_f32_s16_case(variant, ref) DATA_CASE(cast_case, variant, ref, F32, S16)
#define cast_f32_s32_case(variant, ref) DATA_CASE(cast_case, variant, ref, F32, S32)
#define cast_f32_s64_case(variant, ref) DATA_CASE(cast_case, variant, ref, F32, S64)
#define index_offsets_s32_case(variant, ref) DATA_CASE(index_offsets_case, variant, ref, S32)
#define index_offsets_s64_case(variant, ref) DATA_CASE(index_offsets_case, variant, ref, S64)
#define gather_x8_case(variant, ref) DATA_CASE(gather_case, variant, ref, S8)
#define gather_x16_case(variant, ref) DATA_CASE(gather_case, variant, ref, S16)
#define gather_x32_case(variant, ref) DATA_CASE(gather_case, variant, ref, S32)
#define gather_x64_case(variant, ref) DATA_CASE(gather_case, variant, ref, S64)
#define scatter_x8_case(variant, ref) DATA_CASE(scatter_case, variant, ref, S8)
#define scatter_x16_case(variant, ref) DATA_CASE(scatter_case, variant, ref, S16)
#define scatter_x32_case(variant, ref) DATA_CASE(scatter_case, variant, ref, S32)
#define scatter_x64_case(variant, ref) DATA_CASE(scatter_case, variant, ref, S64)
#define scatter_s8_case(variant, ref) DATA_CASE(scatter_case, variant, ref, S8)
#define scatter_s16_case(variant, ref) DATA_CASE(scatter_case, variant, ref, S16)
#define scatter_s32_case(variant, ref) DATA_CASE(scatter_case, variant, ref, S32)
#define scatter_s64_case(variant, ref) DATA_CASE(scatter_case, variant, ref, S64)
#define scatter_u8_case(variant, ref) DATA_CASE(scatter_case, variant, ref, U8)
#define scatter_f32_case(variant, ref) DATA_CASE(scatter_case, variant, ref, F32)
#define bilinear_s8_case(variant, ref) DATA_CASE(bilinear_case, variant, ref, S8)
#define bilinear_f32_case(variant, ref) DATA_CASE(bilinear_case, variant, ref, F32)
#define minmax_of_s16_case(variant, ref) DATA_CASE(minmax_of_case, variant, ref, S16)
#define minmax_of_u8_case(variant, ref) DATA_CASE(minmax_of_case, variant, ref, U8)

#define DATA_KERNELS(K)                                                                            \
    K(compare_eq_s8, scalar, compare_s8_case)                                                      \
    K(compare_eq_s16, scalar, compare_s16_case)                                                    \
    K(compare_eq_s32, scalar, compare_s32_case)                                                    \
    K(compare_eq_s64, scalar, compare_s64_case)                                                    \
    K(compare_eq_u8, scalar, compare_u8_case)                                                      \
    K(compare_eq_f32, scalar, compare_f32_case)                                                    \
    K(compare_ne_s8, scalar, compare_s8_case)                                                      \
    K(compare_ne_s16, scalar, compare_s16_case)                                                    \
    K(compare_ne_s32, scalar, compare_s32_case)                                                    \
    K(compare_ne_s64, scalar, compare_s64_case)                                                    \
    K(compare_ne_u8, scalar, compare_u8_case)                                                      \
    K(compare_ne_f32, scalar, compare_f32_case)                                                    \
    K(compare_lt_s8, scalar, compare_s8_case)                                                      \
    K(compare_lt_s16, scalar, compare_s16_case)                                                    \
    K(compare_lt_s32, scalar, compare_s32_case)                                                    \
    K(compare_lt_s64, scalar, compare_s64_case)                                                    \
    K(compare_lt_u8, scalar, compare_u8_case)                                                      \
    K(compare_lt_f32, scalar, compare_f32_case)                                                    \
    K(compare_le_s8, scalar, compare_s8_case)                                                      \
    K(compare_le_s16, scalar, compare_s16_case)                                                    \
    K(compare_le_s32, scalar, compare_s32_case)                                                    \
    K(compare_le_s64, scalar, compare_s64_case)                                                    \
    K(compare_le_u8, scalar, compare_u8_case)                                                      \
    K(compare_le_f32, scalar, compare_f32_case)                                                    \
    K(where_x8, scalar, where_x8_case)                                                             \
    K(where_x16, scalar, where_x16_case)                                                           \
    K(where_x32, scalar, where_x32_case)                                                           \
    K(where_x64, scalar, where_x64_case)                                                           \
    K(amax_s8, scalar, extreme_s8_case)                                                            \
    K(amax_s16, scalar, extreme_s16_case)                                                          \
    K(amax_s32, scalar, extreme_s32_case)                                                          \
    K(amax_s64, scalar, extreme_s64_case)                                                          \
    K(amax_u8, scalar, extreme_u8_case)                                                            \
    K(amax_f32, scalar, extreme_f32_case)                                                          \
    K(amin_s8, scalar, extreme_s8_case)                                                            \
    K(amin_s16, scalar, extreme_s16_case)                                                          \
    K(amin_s32, scalar, extreme_s32_case)                                                          \
    K(amin_s64, scalar, extreme_s64_case)                                                          \
    K(amin_u8, scalar, extreme_u8_case)                                                            \
    K(amin_f32, scalar, extreme_f32_case)                                                          \
    K(argmax_s8, scalar, arg_reduce_s8_case)                                                       \
    K(argmax_s16, scalar, arg_reduce_s16_case)                                                     \
    K(argmax_s32, scalar, arg_reduce_s32_case)                                                     \
    K(argmax_s64, scalar, arg_reduce_s64_case)                                                     \
    K(argmax_u8, scalar, arg_reduce_u8_case)                                                       \
    K(argmax_f32, scalar, arg_reduce_f32_case)                                                     \
    K(argmin_s8, scalar, arg_reduce_s8_case)                                                       \
    K(argmin_s16, scalar, arg_reduce_s16_case)                                                     \
    K(argmin_s32, scalar, arg_reduce_s32_case)                                                     \
    K(argmin_s64, scalar, arg_reduce_s64_case)                                                     \
    K(argmin_u8, scalar, arg_reduce_u8_case)                                                       \
    K(argmin_f32, scalar, arg_reduce_f32_case)                                                     \
    K(sum_f32, scalar, sum_f32_case)                                                               \
    K(mean_f32, scalar, sum_f32_case)                                                              \
    K(sum_s64, scalar, sum_s64_case)                                                               \
    K(cumsum_s32, scalar, cumsum_s32_case)                                                         \
    K(cumsum_s64, scalar, cumsum_s64_case)                                                         \
    K(cumsum_f32, scalar, cumsum_f32_case)                                                         \
    K(topk_s8, scalar, topk_s8_case)                                                               \
    K(topk_s16, scalar, topk_s16_case)                                                             \
    K(topk_s32, scalar, topk_s32_case)                                                             \
    K(topk_s64, scalar, topk_s64_case)                                                             \
    K(topk_u8, scalar, topk_u8_case)                                                               \
    K(topk_f32, scalar, topk_f32_case)                                                             \
    K(cast_s8s16, scalar, cast_s8_s16_case)                                                        \
    K(cast_s8s32, scalar, cast_s8_s32_case)                                                        \
    K(cast_s8s64, scalar, cast_s8_s64_case)                                                        \
    K(cast_u8s16, scalar, cast_u8_s16_case)                                                        \
    K(cast_u8s32, scalar, cast_u8_s32_case)                                                        \
    K(cast_u8s64, scalar, cast_u8_s64_case)                                                        \
    K(cast_s16s32, scalar, cast_s16_s32_case)                                                      \
    K(cast_s16s64, scalar, cast_s16_s64_case)                                                      \
    K(cast_s32s64, scalar, cast_s32_s64_case)                                                      \
    K(cast_s8f32, scalar, cast_s8_f32_case)                                                        \
    K(cast_u8f32, scalar, cast_u8_f32_case)                                                        \
    K(cast_s16f32, scalar, cast_s16_f32_case)                                                      \
    K(cast_s32f32, scalar, cast_s32_f32_case)                                                      \
    K(cast_s64f32, scalar, cast_s64_f32_case)                                                      \
    K(cast_f32s8, scalar, cast_f32_s8_case)                                                        \
    K(cast_f32u8, scalar, cast_f32_u8_case)                                                        \
    K(cast_f32s16, scalar, cast_f32_s16_case)                                                      \
    K(cast_f32s32, scalar, cast_f32_s32_case)                                                      \
    K(cast_f32s64, scalar, cast_f32_s64_case)                                                      \
    K(index_offsets_s32, scalar, index_offsets_s32_case)                                           \
    K(index_offsets_s64, scalar, index_offsets_s64_case)                                           \
    K(gather_x8, scalar, gather_x8_case)                                                           \
    K(gather_x16, scalar, gather_x16_case)                                                         \
    K(gather_x32, scalar, gather_x32_case)                                                         \
    K(gather_x64, scalar, gather_x64_case)                                                         \
    K(scatter_x8, scalar, scatter_x8_case)                                                         \
    K(scatter_x16, scalar, scatter_x16_case)                                                       \
    K(scatter_x32, scalar, scatter_x32_case)                                                       \
    K(scatter_x64, scalar, scatter_x64_case)                                                       \
    K(scatter_add_s8, scalar, scatter_s8_case)                                                     \
    K(scatter_add_s16, scalar, scatter_s16_case)                                                   \
    K(scatter_add_s32, scalar, scatter_s32_case)                                                   \
    K(scatter_add_s64, scalar, scatter_s64_case)                                                   \
    K(scatter_add_u8, scalar, scatter_u8_case)                                                     \
    K(scatter_add_f32, scalar, scatter_f32_case)                                                   \
    K(bilinear_s8, scalar, bilinear_s8_case)                                                       \
    K(bilinear_f32, scalar, bilinear_f32_case)                                                     \
    K(minimum_s16, scalar, minmax_of_s16_case)                                                     \
    K(minimum_u8, scalar, minmax_of_u8_case)                                                       \
    K(maximum_s16, scalar, minmax_of_s16_case)                                                     \
    K(maximum_u8, scalar, minmax_of_u8_case)

#endif
