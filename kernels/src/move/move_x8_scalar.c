/* SPDX-License-Identifier: Apache-2.0 */
/* move of bytes to a lower address, portable C: upwards, each block read before it is written. */
#include <string.h>

#include "cortexm/assert.h"
#include "cortexm/kernels.h"

void cortexm_move_x8_scalar(const cortexm_move_t *params, const void *in, void *out)
{
    const uint8_t *from = in;
    uint8_t *to = out;
    int32_t n = params->count;

    CORTEXM_ASSERT((uintptr_t)out <= (uintptr_t)in || (uintptr_t)out >= (uintptr_t)in + (uint32_t)n);
    if ((((uintptr_t)to | (uintptr_t)from) & 3u) == 0u) {
        for (; n >= 16; n -= 16) {
            uint32_t word[4];

            for (int i = 0; i < 4; ++i) {
                memcpy(&word[i], __builtin_assume_aligned(from + 4 * i, 4), 4);
            }
            for (int i = 0; i < 4; ++i) {
                memcpy(__builtin_assume_aligned(to + 4 * i, 4), &word[i], 4);
            }
            from += 16;
            to += 16;
        }
    }
    for (; n > 0; --n) {
        *to++ = *from++;
    }
}
