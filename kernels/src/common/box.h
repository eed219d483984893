/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the rows of a box of up to CORTEXM_BOX_MAX_RANK dimensions in C order:
 *
 *     cortexm_box_t box = cortexm_box(dims, rank);
 *     do {
 *         const int32_t start = cortexm_box_offset(&box, stride);
 *         for (i = 0; i < box.row; ++i)
 *             ... in[start + i * cortexm_box_step(&box, stride)] ...
 *     } while (cortexm_box_next(&box));
 *
 * Rank 0 is one row of one element. An operand takes part with its strides alone, so any number of
 * operands share one walk; a row costs rank products an operand.
 */
#ifndef CORTEXM_COMMON_BOX_H
#define CORTEXM_COMMON_BOX_H

#include "cortexm/params.h"
#include "cortexm/requantize.h"

typedef struct {
    const int32_t *dims;
    int32_t outer;    /* dimensions outside the row */
    int32_t row;      /* elements of a row: the extent of the innermost dimension */
    int32_t index[CORTEXM_BOX_MAX_RANK];
} cortexm_box_t;

static inline cortexm_box_t cortexm_box(const int32_t *dims, int32_t rank)
{
    cortexm_box_t box;

    box.dims = dims;
    box.outer = rank > 0 ? rank - 1 : 0;
    box.row = rank > 0 ? dims[rank - 1] : 1;
    for (int32_t d = 0; d < box.outer; ++d) {
        box.index[d] = 0;
        __asm__("" : "+r"(d)); /* not a call of memset, which takes longer than a short row */
    }
    return box;
}

/* Where the row begins in an operand with these strides. */
static inline int32_t cortexm_box_offset(const cortexm_box_t *box, const int32_t *stride)
{
    int32_t offset = 0;

    for (int32_t d = 0; d < box->outer; ++d) {
        offset += box->index[d] * stride[d];
    }
    return offset;
}

/* From one element of a row to the next. */
static inline int32_t cortexm_box_step(const cortexm_box_t *box, const int32_t *stride)
{
    return stride[box->outer];
}

/* On to the next row; 0 after the last one. */
static inline int cortexm_box_next(cortexm_box_t *box)
{
    for (int32_t d = box->outer - 1; d >= 0; --d) {
        if (++box->index[d] < box->dims[d]) {
            return 1;
        }
        box->index[d] = 0;
    }
    return 0;
}

/*
 * Walks two operands that repeat with their periods, in runs without a wrap: element by element
 * kernels then need neither a division nor a test of indices in their inner loop.
 *
 *     cortexm_broadcast_t walk = cortexm_broadcast(count, a_period, b_period);
 *     while (walk.run > 0) {
 *         for (i = 0; i < walk.run; ++i)
 *             out[walk.done + i] = f(a[walk.a + i * walk.a_step], b[walk.b + i * walk.b_step]);
 *         cortexm_broadcast_next(&walk);
 *     }
 */

typedef struct {
    int32_t count, a_period, b_period;
    int32_t done;             /* results before this run */
    int32_t a, b;             /* where the run begins in each operand */
    int32_t run;              /* results of this run; 0 at the end */
    int32_t a_step, b_step;   /* 0 for an operand of one element, else 1 */
} cortexm_broadcast_t;

static inline int32_t cortexm_broadcast_run(const cortexm_broadcast_t *walk)
{
    int32_t run = walk->count - walk->done;

    if (walk->a_step != 0) {
        run = cortexm_min(run, walk->a_period - walk->a);
    }
    if (walk->b_step != 0) {
        run = cortexm_min(run, walk->b_period - walk->b);
    }
    return run;
}

static inline cortexm_broadcast_t cortexm_broadcast(int32_t count, int32_t a_period,
                                                    int32_t b_period)
{
    cortexm_broadcast_t walk = {count, a_period, b_period, 0, 0, 0, 0, a_period != 1, b_period != 1};

    walk.run = cortexm_broadcast_run(&walk);
    return walk;
}

static inline void cortexm_broadcast_next(cortexm_broadcast_t *walk)
{
    walk->done += walk->run;
    walk->a += walk->run * walk->a_step;
    walk->b += walk->run * walk->b_step;
    if (walk->a == walk->a_period) {
        walk->a = 0;
    }
    if (walk->b == walk->b_period) {
        walk->b = 0;
    }
    walk->run = cortexm_broadcast_run(walk);
}

#endif
