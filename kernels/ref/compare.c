/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

#define COMPARE(op, RELATION, types, type)                                                         \
    void cortexm_##op##_##types##_ref(const cortexm_binary_t *p, const type *a, const type *b,     \
                                      uint8_t *out)                                                \
    {                                                                                              \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            out[i] = a[box_offset(i, p->rank, p->dims, p->a_stride)] RELATION                      \
                     b[box_offset(i, p->rank, p->dims, p->b_stride)];                              \
        }                                                                                          \
    }

REF_EACH_TYPE(COMPARE, compare_eq, ==)
REF_EACH_TYPE(COMPARE, compare_ne, !=)
REF_EACH_TYPE(COMPARE, compare_lt, <)
REF_EACH_TYPE(COMPARE, compare_le, <=)

#define WHERE(types, type)                                                                         \
    void cortexm_where_##types##_ref(const cortexm_where_t *p, const uint8_t *condition,           \
                                     const void *a, const void *b, void *out)                      \
    {                                                                                              \
        const type *x = a;                                                                         \
        const type *y = b;                                                                         \
        type *to = out;                                                                            \
                                                                                                   \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            to[i] = condition[box_offset(i, p->rank, p->dims, p->condition_stride)] != 0           \
                        ? x[box_offset(i, p->rank, p->dims, p->a_stride)]                          \
                        : y[box_offset(i, p->rank, p->dims, p->b_stride)];                         \
        }                                                                                          \
    }

REF_EACH_SIZE(WHERE)
