/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"
#include "runs.h"

void cortexm_add_s8_cmsis_nn(const cortexm_add_s8_t *params, const int8_t *a, const int8_t *b,
                             int8_t *out)
{
    const cortexm_add_s8_t *const p = params;
    const int32_t run = cortexm_nn_run(p->a_period, p->b_period);

    for (int32_t done = 0; done < p->count; done += run) {
        const arm_cmsis_nn_status status = arm_elementwise_add_s8(
            a, b, -p->a_zero_point, p->a_multiplier, p->a_shift, -p->b_zero_point,
            p->b_multiplier, p->b_shift, 20, out, p->out_zero_point, p->out_multiplier,
            p->out_shift, p->act_min, p->act_max, run);

        (void)status;
        CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
        a += cortexm_nn_step(p->a_period, run);
        b += cortexm_nn_step(p->b_period, run);
        out += run;
    }
}
