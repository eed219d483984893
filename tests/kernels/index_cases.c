/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "cases.h"
#include "harness.h"

int index_offsets_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_index_offsets_t p = {0};
    void *const index = elements(type, w.size, 0);
    const outputs_t o = outputs(w.size * 4);

    START(p, w);
    strides(&w, 1, 1, p.stride);
    p.size = between(1, 50);
    p.step = between(1, 50);
    p.add = between(0, 1);
    for (int i = 0; i < 2; ++i) {
        if (p.add) {
            memset(o.data[i], 0, (size_t)w.size * 4);
        }
        ((call3_t)both[i])(&p, index, o.data[i]);
    }
    free(index);
    return finish(&o);
}

int gather_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_gather_t p = {0};
    int32_t *const list = offsets(w.size, 5, w.size);
    void *const in = elements(type, 5 * w.size, 1);
    const outputs_t o = outputs(w.size * size_of(type));

    START(p, w);
    strides(&w, 1, 1, p.offset_stride);
    strides(&w, 1, 1, p.in_stride);
    for (int i = 0; i < 2; ++i) {
        ((call4_t)both[i])(&p, in, list, o.data[i]);
    }
    free(list);
    free(in);
    return finish(&o);
}

int scatter_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_scatter_t p = {0};
    int32_t *const list = offsets(w.size, 3, w.size);
    void *const values = elements(type, w.size, 0);
    const outputs_t o = outputs(3 * w.size * size_of(type));

    START(p, w);
    strides(&w, 1, 1, p.offset_stride);
    strides(&w, 1, 1, p.value_stride);
    strides(&w, 1, 1, p.out_stride);
    for (int i = 0; i < 2; ++i) {
        memset(o.data[i], 0, (size_t)(3 * w.size * size_of(type)));
        ((call4_t)both[i])(&p, list, values, o.data[i]);
    }
    free(list);
    free(values);
    return finish(&o);
}

/* Any byte of a block may be the place of any code. */
int embedding_case(kernel_fn variant, kernel_fn ref, int32_t largest)
{
    const kernel_fn both[] = {variant, ref};
    const int32_t rows = between(1, 40), columns = length(), count = between(1, 9);
    const int32_t size = between(1, 300), shift = between(1, 30), bits = one_in(2) ? 4 : 8;
    const int32_t block_shift = between(0, 3), block = 1 << block_shift;
    const int32_t kinds = (block + rows % block) * columns;
    int32_t *const multipliers = allocate(4 * rows);
    int32_t *const row = allocate(4 * count);
    uint16_t *const places = allocate(2 * kinds);
    void *const table = any_bytes((rows / block + 1) * size);
    const outputs_t o = outputs(count * columns * (largest > INT8_MAX ? 2 : 1));
    cortexm_embedding_t p = {multipliers, count, rows, columns, block_shift, size, bits, shift, 0, 0, 0};

    p.out_zero_point = largest > INT8_MAX ? 0 : code();
    p.act_min = -largest - 1;
    p.act_max = largest;
    for (int32_t i = 0; i < rows; ++i) {
        multipliers[i] = between(0, (1 << 23) - 1) >> between(0, 22);
    }
    for (int32_t i = 0; i < count; ++i) {
        row[i] = between(0, rows - 1);
    }
    for (int32_t i = 0; i < kinds; ++i) {
        places[i] = (uint16_t)(4 * between(0, size - 1) + (bits == 4 ? between(0, 3) : between(0, 1)));
    }
    for (int i = 0; i < 2; ++i) {
        ((call5_t)both[i])(&p, table, places, row, o.data[i]);
    }
    free(multipliers);
    free(row);
    free(places);
    free(table);
    return finish(&o);
}

int put_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    cortexm_put_t p = {between(1, 9), between(1, 20), one_in(2) ? 4 : between(1, 9), 0};
    void *const index = elements(type, 1, 0);
    void *const values = any_bytes(p.blocks * p.width);
    int32_t size;

    p.pitch = p.size * p.width;
    size = p.blocks * p.pitch;
    const outputs_t o = outputs(size);

    for (int i = 0; i < 2; ++i) {
        memset(o.data[i], 0, (size_t)size);
        ((call4_t)both[i])(&p, index, values, o.data[i]);
    }
    free(index);
    free(values);
    return finish(&o);
}
