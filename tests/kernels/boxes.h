/* SPDX-License-Identifier: Apache-2.0 */
/* Random elements of every type, and boxes of any rank that kernels walk through with strides. */
#ifndef CORTEXM_TESTS_BOXES_H
#define CORTEXM_TESTS_BOXES_H

#include <stdint.h>
#include <string.h>

#include "cases.h"
#include "cortexm/params.h"

int32_t size_of(element_t type);

/* `count` random elements; floats are NaN and infinite only if `special`. */
void *elements(element_t type, int32_t count, int special);

typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t size;
} walk_t;

walk_t walk(void);

/* Strides of an operand in some memory order, `unit` elements apart, that stands still in some
 * dimensions if `still`. */
void strides(const walk_t *w, int32_t unit, int still, int32_t *stride);

/* Offsets of whole blocks of `block` elements among `blocks`. */
int32_t *offsets(int32_t count, int32_t blocks, int32_t block);

#define START(params, w)                                                                           \
    (params).rank = (w).rank;                                                                      \
    memcpy((params).dims, (w).dims, sizeof (params).dims)

/* Kernels are called through one type: pointers of every kind are passed alike. */
typedef void (*call3_t)(const void *params, const void *a, void *b);
typedef void (*call4_t)(const void *params, const void *a, const void *b, void *c);
typedef void (*call5_t)(const void *params, const void *a, const void *b, const void *c, void *d);

#endif
