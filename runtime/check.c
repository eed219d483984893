/* SPDX-License-Identifier: Apache-2.0 */
/* The self-check of a model on its samples; linked only where it is called. */
#include "cortexm/model.h"

#include <limits.h>
#include <string.h>

int cortexm_check_sample(const cortexm_model_t *model, void *arena, const cortexm_sample_t *sample)
{
    if (model == NULL || sample == NULL) {
        return CORTEXM_ERR_ARGUMENT;
    }
    const uint8_t *bytes = sample->input;
    for (size_t i = 0; i < model->input_count; i++) {
        const cortexm_tensor_t input = cortexm_input(model, arena, i);

        if (input.data == NULL) {
            return CORTEXM_ERR_ARGUMENT;
        }
        memcpy(input.data, bytes, input.info->size);
        bytes += input.info->size;
    }
    const cortexm_status_t status = cortexm_invoke(model, arena);
    if (status != CORTEXM_OK) {
        return status;
    }
    int differing = 0;
    bytes = sample->expected;
    for (size_t i = 0; i < model->output_count; i++) {
        const cortexm_tensor_t output = cortexm_output(model, arena, i);
        const uint8_t *const got = output.data;

        for (size_t k = 0; k < output.info->size; k++) {
            differing += got[k] != *bytes++ && differing < INT_MAX;
        }
    }
    return differing;
}
