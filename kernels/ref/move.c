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
