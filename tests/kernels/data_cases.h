/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random cases of the kernels of the families compare, reduce, cast and index: as in cases.h, each
 * runs a variant and the reference on equal arguments and returns whether the results agree.
 */
#ifndef CORTEXM_TESTS_DATA_CASES_H
#define CORTEXM_TESTS_DATA_CASES_H

#include <stdint.h>

typedef enum { S8, S16, S32, S64, U8, F32 } element_t;

/* A kernel of any prototype. */
typedef void (*kernel_fn)(void);

/* Starts the sequence of cases over from `seed`. */
void seed_data_cases(uint32_t seed);

int compare_case(kernel_fn variant, kernel_fn ref, element_t type);
int where_case(kernel_fn variant, kernel_fn ref, element_t type);
int minmax_of_case(kernel_fn variant, kernel_fn ref, element_t type);
int extreme_case(kernel_fn variant, kernel_fn ref, element_t type);
int sum_case(kernel_fn variant, kernel_fn ref, element_t type);
int arg_reduce_case(kernel_fn variant, kernel_fn ref, element_t type);
int cumsum_case(kernel_fn variant, kernel_fn ref, element_t type);
int topk_case(kernel_fn variant, kernel_fn ref, element_t type);
int cast_case(kernel_fn variant, kernel_fn ref, element_t from, element_t to);
int index_offsets_case(kernel_fn variant, kernel_fn ref, element_t type);
int gather_case(kernel_fn variant, kernel_fn ref, element_t type);
int scatter_case(kernel_fn variant, kernel_fn ref, element_t type);
int bilinear_case(kernel_fn variant, kernel_fn ref, element_t type);

#endif
