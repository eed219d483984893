/* SPDX-License-Identifier: Apache-2.0 */
/* activation through a table, int8, portable C. */
#include "cortexm/kernels.h"

void cortexm_activation_s8_scalar(const cortexm_activation_s8_t *params, const int8_t *in,
                                  const int8_t *table, int8_t *out)
{
    const int8_t *const zero = table - INT8_MIN; /* the entry of code 0 */

    for (int32_t i = 0; i < params->count; ++i) {
        out[i] = zero[in[i]];
    }
}
