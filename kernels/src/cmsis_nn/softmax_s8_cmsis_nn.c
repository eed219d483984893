/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

void cortexm_softmax_s8_cmsis_nn(const cortexm_softmax_s8_t *params, const int8_t *in, int8_t *out)
{
    const cortexm_softmax_s8_t *const p = params;

    CORTEXM_ASSERT(p->inner == 1);
    arm_softmax_s8(in, p->outer, p->size, p->multiplier, p->shift, p->diff_min, out);
}
