/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

#define INDEX_OFFSETS(types, type)                                                                 \
    void cortexm_index_offsets_##types##_ref(const cortexm_index_offsets_t *p, const type *index,  \
                                             void *offsets)                                        \
    {                                                                                              \
        int32_t *out = offsets;                                                                    \
                                                                                                   \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            type at = index[box_offset(i, p->rank, p->dims, p->stride)];                           \
                                                                                                   \
            at += at < 0 ? (type)p->size : 0;                                                      \
            if (at >= p->size) {                                                                   \
                at = (type)(p->size - 1);                                                          \
            }                                                                                      \
            if (at < 0) {                                                                          \
                at = 0;                                                                            \
            }                                                                                      \
            out[i] = (p->add ? out[i] : 0) + (int32_t)at * p->step;                                \
        }                                                                                          \
    }

INDEX_OFFSETS(s32, int32_t)
INDEX_OFFSETS(s64, int64_t)

#define GATHER(types, type)                                                                        \
    void cortexm_gather_##types##_ref(const cortexm_gather_t *p, const void *in,                   \
                                      const void *offsets, void *out)                              \
    {                                                                                              \
        const type *from = in;                                                                     \
        const int32_t *offset = offsets;                                                           \
        type *to = out;                                                                            \
                                                                                                   \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            to[i] = from[box_offset(i, p->rank, p->dims, p->in_stride) +                           \
                         offset[box_offset(i, p->rank, p->dims, p->offset_stride)]];               \
        }                                                                                          \
    }

REF_EACH_SIZE(GATHER)

#define PUT(types, type)                                                                           \
    void cortexm_put_##types##_ref(const cortexm_put_t *p, const type *index, const void *values,  \
                                   void *out)                                                      \
    {                                                                                              \
        const type from = *index < 0 ? *index + p->size : *index;                                  \
        const int at = from < 0 ? 0 : from >= p->size ? p->size - 1 : (int)from;                   \
        const char *value = values;                                                                \
        char *to = out;                                                                            \
                                                                                                   \
        for (int i = 0; i < p->blocks * p->width; ++i) {                                           \
            to[i / p->width * p->pitch + at * p->width + i % p->width] = value[i];                 \
        }                                                                                          \
    }

PUT(s32, int32_t)
PUT(s64, int64_t)

/* ADD(old, x) is the new element. */
#define SCATTER(op, ADD, types, type)                                                              \
    void cortexm_##op##_##types##_ref(const cortexm_scatter_t *p, const void *offsets,             \
                                      const void *values, void *out)                               \
    {                                                                                              \
        const int32_t *offset = offsets;                                                           \
        const type *value = values;                                                                \
        type *to = out;                                                                            \
                                                                                                   \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            const int at = box_offset(i, p->rank, p->dims, p->out_stride) +                        \
                           offset[box_offset(i, p->rank, p->dims, p->offset_stride)];              \
            const type x = value[box_offset(i, p->rank, p->dims, p->value_stride)];                \
                                                                                                   \
            to[at] = (type)(ADD(to[at], x));                                                       \
        }                                                                                          \
    }

#define LAST(old, x) (x)
#define SUM(old, x) ((old) + (x))

SCATTER(scatter, LAST, x8, uint8_t)
SCATTER(scatter, LAST, x16, uint16_t)
SCATTER(scatter, LAST, x32, uint32_t)
SCATTER(scatter, LAST, x64, uint64_t)
REF_EACH_TYPE(SCATTER, scatter_add, SUM)
