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

/* From any element on, which may be the same ones. */
int interleave_case(interleave_fn variant, interleave_fn ref, int32_t element_size)
{
    const cortexm_interleave_t p = {one_in(8) ? 0 : length()};
    const int32_t first = element_size * (one_in(2) ? 0 : between(0, 7));
    const int32_t second = element_size * (one_in(2) ? 0 : between(0, 7));
    const int32_t begin = element_size * (one_in(2) ? 0 : between(0, 7));
    unsigned char *const a = random_bytes(first + element_size * p.count);
    unsigned char *const b = random_bytes(second + element_size * p.count);
    const unsigned char *const other = one_in(4) ? a + first : b + second;
    outputs_t o = outputs(begin + 2 * element_size * p.count);

    variant(&p, a + first, other, o.data[0] + begin);
    ref(&p, a + first, other, o.data[1] + begin);
    free(a);
    free(b);
    return finish(&o);
}

/* The bytes that dimensions and lanes reach, and how far below the first one. */
typedef struct {
    int32_t low, high;
} reach_t;

static void reach_further(reach_t *reach, int32_t extent, int32_t stride)
{
    if (extent < 2) {
        return;
    }
    if (stride < 0) {
        reach->low -= (extent - 1) * stride;
    } else {
        reach->high += (extent - 1) * stride;
    }
}

static void put_lane(uint8_t *table, int32_t lanes, int32_t lane, int32_t place)
{
    const uint16_t wide = (uint16_t)place;

    if (lanes == 16) {
        table[lane] = (uint8_t)place;
    } else {
        memcpy(table + 2 * lane, &wide, sizeof wide);
    }
}

/* As the plan makes them: vectors of a row's elements or of several rows, of which the last may be a part that
 * the next vector has whole. */
int copy_lanes_case(copy_lanes_fn variant, copy_lanes_fn ref, int32_t element_size)
{
    cortexm_copy_lanes_t p;
    reach_t in_reach = {0, element_size};
    reach_t out_reach = {0, element_size};
    unsigned char *in;
    outputs_t o;

    memset(&p, 0, sizeof p);
    p.way = between(CORTEXM_LANES_IN_ONE_PIECE, CORTEXM_LANES_ONE_BY_ONE);
    if (element_size != 1 && p.way == CORTEXM_LANES_GATHERED) {
        p.way = CORTEXM_LANES_GATHERED_BY_EIGHTS;
    } else if (element_size != 1 && p.way == CORTEXM_LANES_SCATTERED) {
        p.way = CORTEXM_LANES_SCATTERED_BY_EIGHTS;
    }
    p.outer_rank = one_in(2) ? 0 : between(1, one_in(4) ? CORTEXM_LANES_MAX_RANK : 2);
    p.count = one_in(16) ? 0 : length();
    if (p.way == CORTEXM_LANES_IN_ONE_PIECE) {
        p.in_step = p.out_step = 16;
        reach_further(&in_reach, p.count, element_size);
        reach_further(&out_reach, p.count, element_size);
    } else if (p.way == CORTEXM_LANES_ONE_BY_ONE) {
        p.in_step = between(-9, 9) * element_size;
        p.out_step = (one_in(4) ? -1 : 1) * between(1, 4) * element_size;
        reach_further(&in_reach, p.count, p.in_step);
        reach_further(&out_reach, p.count, p.out_step);
    } else {
        const int by_16 = p.way == CORTEXM_LANES_GATHERED || p.way == CORTEXM_LANES_SCATTERED;
        const int in_piece =
            p.way == CORTEXM_LANES_GATHERED || p.way == CORTEXM_LANES_GATHERED_BY_EIGHTS;
        const int32_t lanes = by_16 ? 16 : 8;
        const int32_t n = one_in(3) ? lanes : between(2, lanes); /* lanes of a row */
        const int32_t whole = lanes / n;
        const int is_far = !by_16 && p.outer_rank == 0;
        const int32_t a = between(0, is_far ? 300 : 8);
        const int32_t b = in_piece ? 1 : between(1, is_far ? 100 : 8);
        const int32_t row_a = between(0, is_far ? 600 : 16);
        const int32_t row_b = n * b + (in_piece ? 0 : between(0, 3));
        const int32_t vectors = between(1, 4);

        if (n < lanes || p.count > lanes * vectors) {
            p.count = (vectors - 1) * lanes + between(1, whole) * n;
        }
        p.in_step = whole * row_a * element_size;
        p.out_step = whole * row_b * element_size;
        for (int32_t lane = 0; lane < lanes; ++lane) {
            put_lane(p.in_lanes, lanes, lane, lane / n * row_a + lane % n * a);
            put_lane(p.out_lanes, lanes, lane, lane / n * row_b + lane % n * b);
        }
        in_reach.high += element_size * (vectors * whole * row_a + lanes * (row_a + a));
        out_reach.high += element_size * (vectors + 1) * (whole + 1) * row_b;
    }
    p.runs = between(1, 4);
    p.in_run = between(-20, 40) * element_size;
    p.out_run = out_reach.low + out_reach.high + between(0, 3) * element_size;
    reach_further(&in_reach, p.runs, p.in_run);
    reach_further(&out_reach, p.runs, p.out_run);
    for (int32_t d = p.outer_rank - 1; d >= 0; --d) {
        p.outer_dims[d] = between(1, p.outer_rank > 2 ? 2 : 5);
        p.in_outer[d] = between(-20, 40) * element_size;
        p.out_outer[d] = out_reach.low + out_reach.high;
        reach_further(&in_reach, p.outer_dims[d], p.in_outer[d]);
        reach_further(&out_reach, p.outer_dims[d], p.out_outer[d]);
    }
    in = random_bytes(in_reach.low + in_reach.high);
    o = outputs(out_reach.low + out_reach.high);
    variant(&p, in + in_reach.low, (unsigned char *)o.data[0] + out_reach.low);
    ref(&p, in + in_reach.low, (unsigned char *)o.data[1] + out_reach.low);
    free(in);
    return finish(&o);
}
