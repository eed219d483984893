/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a box in C order, by number. */
#ifndef CORTEXM_BOX_REF_H
#define CORTEXM_BOX_REF_H

#include <stdint.h>

static inline int box_size(int rank, const int32_t *dims)
{
    int size = 1;

    for (int d = 0; d < rank; ++d) {
        size *= dims[d];
    }
    return size;
}

/* Where element `number` lies in an operand with these strides. */
static inline int box_offset(int number, int rank, const int32_t *dims, const int32_t *stride)
{
    int offset = 0;

    for (int d = rank - 1; d >= 0; --d) {
        offset += number % dims[d] * stride[d];
        number /= dims[d];
    }
    return offset;
}

#endif
