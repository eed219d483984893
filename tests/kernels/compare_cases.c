/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "boxes.h"
#include "cases.h"
#include "harness.h"

/* Now and then with rows of several vectors. */
static walk_t long_walk(void)
{
    walk_t w = walk();

    if (w.rank > 0 && w.rank < 3 && between(0, 1)) {
        w.size /= w.dims[w.rank - 1];
        w.dims[w.rank - 1] = length();
        w.size *= w.dims[w.rank - 1];
    }
    return w;
}

int compare_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = long_walk();
    cortexm_binary_t p = {0};
    void *const a = elements(type, w.size, 1);
    void *const b = elements(type, w.size, 1);
    const outputs_t o = outputs(w.size);

    START(p, w);
    if (p.rank == 0) { /* never below 1 in a binary block */
        p.rank = p.dims[0] = 1;
    }
    strides(&w, 1, 1, p.a_stride);
    strides(&w, 1, 1, p.b_stride);
    for (int i = 0; i < 2; ++i) {
        ((call4_t)both[i])(&p, a, b, o.data[i]);
    }
    free(a);
    free(b);
    return finish(&o);
}

int where_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = long_walk();
    cortexm_where_t p = {0};
    void *const c = elements(U8, w.size, 0);
    void *const a = elements(type, w.size, 1);
    void *const b = elements(type, w.size, 1);
    const outputs_t o = outputs(w.size * size_of(type));

    START(p, w);
    strides(&w, 1, 1, p.condition_stride);
    strides(&w, 1, 1, p.a_stride);
    strides(&w, 1, 1, p.b_stride);
    for (int i = 0; i < 2; ++i) {
        ((call5_t)both[i])(&p, c, a, b, o.data[i]);
    }
    free(a);
    free(b);
    free(c);
    return finish(&o);
}
