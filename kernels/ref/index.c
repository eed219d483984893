/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

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

#define EMBEDDING(types, type)                                                                     \
    void cortexm_embedding_##types##_ref(const cortexm_embedding_t *p, const int8_t *table,        \
                                         const uint16_t *places, const void *rows, type *out)      \
    {                                                                                              \
        const int block = 1 << p->block_shift;                                                     \
        const int range = 1 << p->bits;                                                            \
                                                                                                   \
        for (int i = 0; i < p->count * p->columns; ++i) {                                          \
            const int at = ((const int32_t *)rows)[i / p->columns];                                \
            const int is_left = at / block == p->rows / block;                                     \
            const int row = is_left ? block + at % block : at % block;                             \
            const int place = places[row * p->columns + i % p->columns];                           \
            const int byte = (uint8_t)table[at / block * p->block_size + place / 4];               \
            int code = place & 2 ? byte / 16 : byte % range;                                       \
                                                                                                   \
            if (!(place & 1)) {                                                                    \
                code -= range / 2;                                                                 \
            } else if (code >= range / 2) {                                                        \
                code -= range;                                                                     \
            }                                                                                      \
            const double exact = (double)code * p->multiplier[at] / ((int64_t)1 << p->shift);      \
            const double value = floor(exact + 0.5) + p->out_zero_point;                           \
                                                                                                   \
            out[i] = (type)(value < p->act_min ? p->act_min : value > p->act_max ? p->act_max : value); \
        }                                                                                          \
    }

EMBEDDING(s8, int8_t)
EMBEDDING(s16, int16_t)

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
