/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "cases.h"
#include "harness.h"

/* A box, or one row that is longer than a vector. */
static walk_t box_or_row(void)
{
    const int32_t size = between(1, 70);
    const walk_t row = {1, {size}, size};

    return one_in(3) ? row : walk();
}

/* Results of `out` bytes each; sums take no infinities. */
static int reduction(kernel_fn variant, kernel_fn ref, element_t type, int32_t out, int special)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t kept = box_or_row();
    const walk_t reduced = box_or_row();
    cortexm_reduce_t p = {0};
    void *const in = elements(type, kept.size * reduced.size, special);
    const outputs_t o = outputs(kept.size * out);

    START(p, kept);
    p.reduced_rank = reduced.rank;
    memcpy(p.reduced_dims, reduced.dims, sizeof p.reduced_dims);
    if (between(0, 1)) {
        strides(&kept, 1, 0, p.stride);
        strides(&reduced, kept.size, 0, p.reduced_stride);
    } else {
        strides(&kept, reduced.size, 0, p.stride);
        strides(&reduced, 1, 0, p.reduced_stride);
    }
    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(&p, in, o.data[i]);
    }
    free(in);
    return finish(&o);
}

int extreme_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    return reduction(variant, ref, type, size_of(type), 1);
}

int sum_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    return reduction(variant, ref, type, size_of(type), 0);
}

int arg_reduce_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    return reduction(variant, ref, type, 8, 1);
}

int cumsum_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_cumsum_t p = {0};
    const int32_t size = between(1, 9);
    void *const in = elements(type, w.size * size, 0);
    const outputs_t o = outputs(w.size * size * size_of(type));

    START(p, w);
    p.size = size;
    p.in_step = w.size;
    p.out_step = 1;
    strides(&w, 1, 0, p.in_stride);
    strides(&w, size, 0, p.out_stride);
    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(&p, in, o.data[i]);
    }
    free(in);
    return finish(&o);
}

int topk_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_topk_t p = {0};
    const int32_t size = between(1, 9);
    const int32_t k = between(1, size);
    void *const in = elements(type, w.size * size, 1);
    const outputs_t values = outputs(w.size * k * size_of(type));
    const outputs_t index = outputs(w.size * k * 8);

    START(p, w);
    p.size = size;
    p.k = k;
    p.largest = between(0, 1);
    p.in_step = w.size;
    p.value_step = 1;
    p.index_step = w.size;
    strides(&w, 1, 0, p.in_stride);
    strides(&w, k, 0, p.value_stride);
    strides(&w, 1, 0, p.index_stride);
    for (int i = 0; i < 2; ++i) {
        ((call4_t)both[i])(&p, in, values.data[i], index.data[i]);
    }
    free(in);
    {
        const int equal = finish(&values);

        return finish(&index) && equal;
    }
}
