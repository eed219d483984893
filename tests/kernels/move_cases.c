/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "harness.h"

/* From any element on, and no further. */
int fill_case(fill_fn variant, fill_fn ref, int32_t element_size)
{
    const cortexm_fill_t p = {one_in(8) ? 0 : length(), (int32_t)random32()};
    const int32_t first = one_in(2) ? 0 : between(0, 7);
    outputs_t o = outputs(element_size * (first + p.count));

    variant(&p, o.data[0] + element_size * first);
    ref(&p, o.data[1] + element_size * first);
    return finish(&o);
}

/* Within one buffer, by any number of bytes; the source remains where it is not overwritten. */
int move_x8_case(move_fn variant, move_fn ref)
{
    const cortexm_move_t p = {one_in(8) ? 0 : length()};
    const int32_t by = one_in(2) ? 4 * between(0, 12) : between(0, 40);
    const int32_t first = one_in(2) ? 0 : between(0, 7);
    const int32_t size = first + by + p.count;
    unsigned char *const in = random_bytes(size);
    outputs_t o = outputs(size);

    for (int i = 0; i < 2; ++i) {
        unsigned char *const data = o.data[i];

        memcpy(data, in, (size_t)size);
        (i == 0 ? variant : ref)(&p, data + first + by, data + first);
    }
    free(in);
    return finish(&o);
}

/* A box whose output is dense in a random order of dimensions, perhaps with gaps and flipped, and
 * whose input is dense, broadcast or flipped in each dimension. */
int copy_case(copy_fn variant, copy_fn ref, int32_t element_size)
{
    cortexm_copy_t p;
    int32_t order[CORTEXM_COPY_MAX_RANK];
    int32_t in_count = 1;
    int32_t out_count = 1;
    int32_t in_first = 0;
    int32_t out_first = 0;
    unsigned char *in;
    outputs_t o;

    memset(&p, 0, sizeof p);
    p.rank = between(0, one_in(4) ? CORTEXM_COPY_MAX_RANK : 4);
    for (int32_t d = 0; d < p.rank; ++d) {
        p.dims[d] = one_in(16) ? 0 : between(1, p.rank > 4 ? 3 : 7);
        order[d] = d;
    }
    if (p.rank > 0 && one_in(2)) {
        p.dims[p.rank - 1] = p.rank > 3 ? between(1, 9) : length();
    }
    for (int32_t d = p.rank - 1; d > 0 && one_in(2); --d) {
        const int32_t other = between(0, d);
        const int32_t kept = order[d];

        order[d] = order[other];
        order[other] = kept;
    }
    for (int32_t k = p.rank - 1; k >= 0; --k) {
        const int32_t d = order[k];

        p.out_stride[d] = out_count;
        out_count *= p.dims[d] + (one_in(6) ? 1 : 0);
    }
    for (int32_t d = p.rank - 1; d >= 0; --d) {
        if (!one_in(6)) {
            p.in_stride[d] = in_count;
            in_count *= p.dims[d];
        }
        if (one_in(4) && p.dims[d] > 0) {
            in_first += (p.dims[d] - 1) * p.in_stride[d];
            p.in_stride[d] = -p.in_stride[d];
        }
        if (one_in(8) && p.dims[d] > 0) {
            out_first += (p.dims[d] - 1) * p.out_stride[d];
            p.out_stride[d] = -p.out_stride[d];
        }
    }
    in = random_bytes(in_count * element_size);
    o = outputs(out_count * element_size);
    variant(&p, in + in_first * element_size,
            (unsigned char *)o.data[0] + out_first * element_size);
    ref(&p, in + in_first * element_size, (unsigned char *)o.data[1] + out_first * element_size);
    free(in);
    return finish(&o);
}
