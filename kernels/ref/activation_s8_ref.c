/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

void cortexm_activation_s8_ref(const cortexm_activation_s8_t *p, const int8_t *in,
                               const int8_t *table, int8_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        out[i] = table[in[i] + 128];
    }
}
