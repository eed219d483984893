/* SPDX-License-Identifier: Apache-2.0 */
#include "dot.h"

int32_t cortexm_et_dot(const int8_t *in, int32_t in_offset, const int8_t *weight,
                       int32_t weight_offset, int32_t n)
{
    const int8_t *const end = in + n;
    int32_t sum = 0;

    while (in != end) {
        sum += (*in++ + in_offset) * (*weight++ + weight_offset);
    }
    return sum;
}
