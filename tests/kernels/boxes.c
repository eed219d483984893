/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes.h"

#include <math.h>
#include <string.h>

#include "harness.h"

#define MAX_RANK 4
#define MAX_EXTENT 4

int32_t size_of(element_t type)
{
    return type == S8 || type == U8 ? 1 : type == S16 ? 2 : type == S64 ? 8 : 4;
}

void *elements(element_t type, int32_t count, int special)
{
    unsigned char *bytes = allocate(count * size_of(type));
    const int few = between(0, 2) == 0; /* so that equal elements occur */

    for (int32_t i = 0; i < count; ++i) {
        unsigned char *const at = bytes + i * size_of(type);

        if (type == F32) {
            static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 3e9f, -3e9f, 1e20f, 300.5f};
            const float value = special && between(0, 9) == 0 ? odd[between(0, 7)]
                                : few                         ? (float)between(-2, 0)
                                                              : (float)between(-9999, 9999) / 16.0f;

            memcpy(at, &value, sizeof value);
        } else {
            for (int32_t k = 0; k < size_of(type); ++k) {
                at[k] = (unsigned char)(few ? (k == 0 ? between(0, 2) : 0) : between(0, 255));
            }
        }
    }
    return bytes;
}

walk_t walk(void)
{
    walk_t w = {between(0, MAX_RANK), {0}, 1};

    for (int32_t d = 0; d < w.rank; ++d) {
        w.dims[d] = between(1, MAX_EXTENT);
        w.size *= w.dims[d];
    }
    return w;
}

void strides(const walk_t *w, int32_t unit, int still, int32_t *stride)
{
    int32_t used[CORTEXM_BOX_MAX_RANK] = {0};
    int32_t step = unit;

    for (int32_t n = 0; n < w->rank; ++n) {
        int32_t d = between(0, w->rank - 1);

        while (used[d]) {
            d = (d + 1) % w->rank;
        }
        used[d] = 1;
        stride[d] = still && between(0, 3) == 0 ? 0 : step;
        step *= w->dims[d];
    }
    if (w->rank == 0) {
        stride[0] = 0;
    }
}

int32_t *offsets(int32_t count, int32_t blocks, int32_t block)
{
    int32_t *const list = allocate(count * 4);

    for (int32_t i = 0; i < count; ++i) {
        list[i] = between(0, blocks - 1) * block;
    }
    return list;
}
