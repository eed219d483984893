/* SPDX-License-Identifier: Apache-2.0 */
/* compare_* and where, MVE, of elements of up to 32 bits: rows in vectors, the last of which is predicated.
 * Operands that go on by one element, or stand still, are read as vectors of 16 bytes; if one goes on by
 * another step, all are gathered into lanes of 32 bits. */
#ifndef CORTEXM_COMPARE_LANES_MVE_H
#define CORTEXM_COMPARE_LANES_MVE_H

#include "common/mve.h"
#include "common/box.h"
#include "common/stamp.h"

#if defined CORTEXM_IS_s8 || defined CORTEXM_IS_u8 || defined CORTEXM_IS_x8
#define LANES 16
#define WIDTH "8"
#define OF_WIDTH "b"
#define SCALED ""
#elif defined CORTEXM_IS_s16 || defined CORTEXM_IS_x16
#define LANES 8
#define WIDTH "16"
#define OF_WIDTH "h"
#define SCALED ", uxtw #1"
#else
#define LANES 4
#define WIDTH "32"
#define OF_WIDTH "w"
#define SCALED ", uxtw #2"
#endif
#if defined CORTEXM_IS_s8 || defined CORTEXM_IS_s16
#define SIGN "s"
#else
#define SIGN "u"
#endif

/* A vector of an operand, by its letter; what it goes on by is `letter`_next, in bytes. */
#define LOAD(vector, of)                                                                           \
    "vldr" OF_WIDTH ".u" WIDTH " %q[" vector "], [%[" of "]]\n\t"                                  \
    "add    %[" of "], %[" of "], %[" of "_next]\n\t"
#define GATHER(vector, of)                                                                         \
    "vldr" OF_WIDTH "." SIGN "32 %q[" vector "], [%[" of "], %q[" of "_lanes]" SCALED "]\n\t"      \
    "add    %[" of "], %[" of "], %[" of "_next]\n\t"

/* Sixteen bytes of an element that is repeated. */
#define REPEAT(to, element, width)                                                                 \
    do {                                                                                           \
        uint8x16_t x;                                                                              \
                                                                                                   \
        __asm__ volatile("vdup." width " %q[x], %[one]\n\t"                                        \
                         "vstrb.8 %q[x], [%[at]]\n\t"                                              \
                         : [x] "=&w"(x)                                                            \
                         : [one] "r"(element), [at] "r"(to)                                        \
                         : "memory");                                                              \
    } while (0)

static inline void repeat(ELEMENT to[LANES], const ELEMENT *element)
{
    REPEAT(to, *element, WIDTH);
}

/* The distances of four elements. */
static inline uint32x4_t lanes_of(int32_t step)
{
    return vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)step);
}

/* The rows along the dimension outside of them, which the walk leaves out. */
typedef struct {
    int32_t count, dim;
} rows_t;

static inline rows_t rows_of(cortexm_box_t *box)
{
    const int32_t dim = box->outer - 1;
    const rows_t rows = {dim < 0 ? 1 : box->dims[dim], dim < 0 ? 0 : dim};

    box->outer = rows.dim;
    return rows;
}

static inline int32_t step_of(rows_t rows, const int32_t *stride)
{
    return stride[rows.dim];
}

static inline int is_beside(int32_t step)
{
    return step == 0 || step == 1;
}

#endif
