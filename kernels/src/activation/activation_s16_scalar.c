/* SPDX-License-Identifier: Apache-2.0 */
/* activation, int16: between the entries of a table is interpolated. See kernels/README.md for the
 * formula. */
#include "cortexm/kernels.h"

CORTEXM_ACTIVATION_S16(cortexm_activation_s16_scalar)
{
    const int32_t bits = params->bits;
    const int32_t mask = (1 << bits) - 1;
    const int32_t half = (1 << bits) >> 1;
    const int16_t *const end = in + params->count;

    while (in != end) {
        const int32_t position = *in++ - INT16_MIN;
        const int16_t *const entry = table + (position >> bits);

        *out++ = (int16_t)(entry[0] + (((entry[1] - entry[0]) * (position & mask) + half) >> bits));
    }
}
