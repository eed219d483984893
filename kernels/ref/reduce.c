/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

/* STEP(sum, x) takes an element in, FINISH(sum, n) makes the result of n of them. */
#define REDUCE(op, STEP, FINISH, types, type)                                                      \
    void cortexm_##op##_##types##_ref(const cortexm_reduce_t *p, const type *in, type *out)        \
    {                                                                                              \
        const int count = box_size(p->reduced_rank, p->reduced_dims);                              \
                                                                                                   \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            const type *x = in + box_offset(i, p->rank, p->dims, p->stride);                       \
            type sum = x[0];                                                                       \
                                                                                                   \
            for (int k = 1; k < count; ++k) {                                                      \
                const int at =                                                                     \
                    box_offset(k, p->reduced_rank, p->reduced_dims, p->reduced_stride);            \
                                                                                                   \
                sum = STEP(sum, x[at]);                                                            \
            }                                                                                      \
            out[i] = FINISH(sum, count);                                                           \
        }                                                                                          \
    }

/* The first NaN stays. */
#define LARGER(best, x) (REF_IS_NAN(best) || (x) <= (best) ? (best) : (x))
#define SMALLER(best, x) (REF_IS_NAN(best) || (x) >= (best) ? (best) : (x))
#define SUM(sum, x) ((sum) + (x))
#define ALL(sum, n) (sum)
#define SHARE(sum, n) ((sum) / (float)(n))

REF_EACH_TYPE(REDUCE, amax, LARGER, ALL)
REF_EACH_TYPE(REDUCE, amin, SMALLER, ALL)
REDUCE(sum, SUM, ALL, f32, float)
REDUCE(sum, SUM, ALL, s64, int64_t)
REDUCE(mean, SUM, SHARE, f32, float)

/* RELATION holds between a new extreme and the one before it. */
#define ARG_REDUCE(op, RELATION, types, type)                                                      \
    void cortexm_##op##_##types##_ref(const cortexm_reduce_t *p, const type *in, int64_t *out)     \
    {                                                                                              \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            const type *x = in + box_offset(i, p->rank, p->dims, p->stride);                       \
            type best = x[0];                                                                      \
                                                                                                   \
            out[i] = 0;                                                                            \
            for (int k = 1; k < box_size(p->reduced_rank, p->reduced_dims); ++k) {                 \
                const type value =                                                                 \
                    x[box_offset(k, p->reduced_rank, p->reduced_dims, p->reduced_stride)];         \
                                                                                                   \
                if (REF_IS_NAN(best)) {                                                            \
                    break;                                                                         \
                }                                                                                  \
                if (value RELATION best || REF_IS_NAN(value)) {                                    \
                    best = value;                                                                  \
                    out[i] = k;                                                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

REF_EACH_TYPE(ARG_REDUCE, argmax, >)
REF_EACH_TYPE(ARG_REDUCE, argmin, <)

#define CUMSUM(types, type)                                                                        \
    void cortexm_cumsum_##types##_ref(const cortexm_cumsum_t *p, const type *in, type *out)        \
    {                                                                                              \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            const type *x = in + box_offset(i, p->rank, p->dims, p->in_stride);                    \
            type *y = out + box_offset(i, p->rank, p->dims, p->out_stride);                        \
                                                                                                   \
            for (int k = 0; k < p->size; ++k) {                                                    \
                y[k * p->out_step] = x[k * p->in_step];                                            \
                if (k > 0) {                                                                       \
                    y[k * p->out_step] += y[(k - 1) * p->out_step];                                \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

CUMSUM(s32, int32_t)
CUMSUM(s64, int64_t)
CUMSUM(f32, float)

/* An element's place is the number of those that come before it: of better ones, and of equal ones
 * with a lower index. */
#define TOPK(op, types, type)                                                                      \
    static int above_##types(type x, type y)                                                       \
    {                                                                                              \
        return REF_IS_NAN(x) ? !REF_IS_NAN(y) : x > y;                                             \
    }                                                                                              \
                                                                                                   \
    void cortexm_topk_##types##_ref(const cortexm_topk_t *p, const type *in, type *values,         \
                                    int64_t *index)                                                \
    {                                                                                              \
        for (int i = 0; i < box_size(p->rank, p->dims); ++i) {                                     \
            const type *x = in + box_offset(i, p->rank, p->dims, p->in_stride);                    \
            type *value = values + box_offset(i, p->rank, p->dims, p->value_stride);               \
            int64_t *number = index + box_offset(i, p->rank, p->dims, p->index_stride);            \
                                                                                                   \
            for (int n = 0; n < p->size; ++n) {                                                    \
                const type own = x[n * p->in_step];                                                \
                int place = 0;                                                                     \
                                                                                                   \
                for (int m = 0; m < p->size; ++m) {                                                \
                    const type other = x[m * p->in_step];                                          \
                    const int better =                                                             \
                        p->largest ? above_##types(other, own) : above_##types(own, other);        \
                    const int worse =                                                              \
                        p->largest ? above_##types(own, other) : above_##types(other, own);        \
                                                                                                   \
                    place += better || (!worse && m < n);                                          \
                }                                                                                  \
                if (place < p->k) {                                                                \
                    value[place * p->value_step] = own;                                            \
                    number[place * p->index_step] = n;                                             \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

REF_EACH_TYPE(TOPK, topk)
