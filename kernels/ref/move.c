/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ref.h"

void cortexm_move_x8_ref(const cortexm_move_t *p, const void *in, void *out)
{
    memmove(out, in, (size_t)p->count);
}

#define FILL(types, type)                                                                          \
    void cortexm_fill_##types##_ref(const cortexm_fill_t *p, void *out)                            \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            const type value = (type)p->value;                                                     \
                                                                                                   \
            memcpy((unsigned char *)out + i * (int)sizeof value, &value, sizeof value);            \
        }                                                                                          \
    }

FILL(x8, uint8_t)
FILL(x16, uint16_t)
FILL(x32, uint32_t)

#define COPY(types, type)                                                                          \
    void cortexm_copy_##types##_ref(const cortexm_copy_t *p, const void *in, void *out)            \
    {                                                                                              \
        int count = 1;                                                                             \
                                                                                                   \
        for (int d = 0; d < p->rank; ++d) {                                                        \
            count *= p->dims[d];                                                                   \
        }                                                                                          \
        for (int i = 0; i < count; ++i) {                                                          \
            int rest = i;                                                                          \
            int from = 0;                                                                          \
            int to = 0;                                                                            \
                                                                                                   \
            for (int d = p->rank - 1; d >= 0; --d) {                                               \
                from += rest % p->dims[d] * p->in_stride[d];                                       \
                to += rest % p->dims[d] * p->out_stride[d];                                        \
                rest /= p->dims[d];                                                                \
            }                                                                                      \
            memcpy((unsigned char *)out + to * (int)sizeof(type),                                  \
                   (const unsigned char *)in + from * (int)sizeof(type), sizeof(type));            \
        }                                                                                          \
    }

REF_EACH_SIZE(COPY)

#define INTERLEAVE(types, size)                                                                    \
    void cortexm_interleave_##types##_ref(const cortexm_interleave_t *p, const void *a, const void *b, \
                                          void *out)                                               \
    {                                                                                              \
        for (int i = 0; i < 2 * p->count; ++i) {                                                   \
            memcpy((unsigned char *)out + i * size,                                                \
                   (const unsigned char *)(i % 2 == 0 ? a : b) + i / 2 * size, size);              \
        }                                                                                          \
    }

INTERLEAVE(x8, 1)
INTERLEAVE(x16, 2)

/* Where element i of a run lies, in elements of a vector. */
static int lane_place(const cortexm_copy_lanes_t *p, const uint8_t *table, int is_read, int i)
{
    uint16_t place;

    if (!is_read) {
        return i;
    }
    if (p->way == CORTEXM_LANES_GATHERED || p->way == CORTEXM_LANES_SCATTERED) {
        return table[i];
    }
    memcpy(&place, table + 2 * i, sizeof place);
    return place;
}

static void copy_run(const cortexm_copy_lanes_t *p, const unsigned char *in, unsigned char *out, int size)
{
    const int is_gathered = p->way != CORTEXM_LANES_IN_ONE_PIECE && p->way != CORTEXM_LANES_ONE_BY_ONE;
    const int is_scattered =
        p->way == CORTEXM_LANES_SCATTERED || p->way == CORTEXM_LANES_SCATTERED_BY_EIGHTS;
    const int by_16 = p->way == CORTEXM_LANES_GATHERED || p->way == CORTEXM_LANES_SCATTERED;
    const int lanes = p->way == CORTEXM_LANES_IN_ONE_PIECE ? p->count : !is_gathered ? 1 : by_16 ? 16 : 8;

    for (int i = 0; i < p->count; ++i) {
        const int from = lane_place(p, p->in_lanes, is_gathered, i % lanes);
        const int to = lane_place(p, p->out_lanes, is_scattered, i % lanes);

        memcpy(out + i / lanes * p->out_step + to * size, in + i / lanes * p->in_step + from * size,
               (size_t)size);
    }
}

static void copy_lanes(const cortexm_copy_lanes_t *p, const void *in, void *out, int size)
{
    int count = 1;

    for (int d = 0; d < p->outer_rank; ++d) {
        count *= p->outer_dims[d];
    }
    for (int i = 0; i < count * p->runs; ++i) {
        int rest = i / p->runs;
        int from = i % p->runs * p->in_run;
        int to = i % p->runs * p->out_run;

        for (int d = p->outer_rank - 1; d >= 0; --d) {
            from += rest % p->outer_dims[d] * p->in_outer[d];
            to += rest % p->outer_dims[d] * p->out_outer[d];
            rest /= p->outer_dims[d];
        }
        copy_run(p, (const unsigned char *)in + from, (unsigned char *)out + to, size);
    }
}

void cortexm_copy_lanes_x8_ref(const cortexm_copy_lanes_t *p, const void *in, void *out)
{
    copy_lanes(p, in, out, 1);
}

void cortexm_copy_lanes_x16_ref(const cortexm_copy_lanes_t *p, const void *in, void *out)
{
    copy_lanes(p, in, out, 2);
}
