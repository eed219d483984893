/* SPDX-License-Identifier: Apache-2.0 */
/* Tries what lies in each slot of memory as the model's weights, and runs with those that it takes. */
#include <stdio.h>

#include "small.h"

static void run(unsigned slot)
{
    const cortexm_tensor_t input = cortexm_input(&small, NULL, 0);
    const cortexm_tensor_t output = cortexm_output(&small, NULL, 0);

    for (size_t k = 0; k < SMALL_INPUT_0_COUNT; k++) {
        ((float *)input.data)[k] = ((float)((5U * k) % 17U) - 8.0f) * 0.125f;
    }
    const cortexm_status_t status = cortexm_invoke(&small, NULL);
    if (status != CORTEXM_OK) {
        printf("invoke %u: %s\n", slot, cortexm_status_text(status));
        return;
    }
    printf("output %u: ", slot);
    for (size_t k = 0; k < output.info->size; k++) {
        printf("%02x", ((const uint8_t *)output.data)[k]);
    }
    printf("\n");
}

int main(void)
{
    printf("init: %s\n", cortexm_status_text(cortexm_init(&small, NULL, 0)));
    run(99);
    for (unsigned slot = 0; slot < SLOT_COUNT; slot++) {
        const void *const image = (const void *)(SLOTS + slot * (uintptr_t)SLOT_SIZE);
        const cortexm_status_t status = cortexm_load_weights(&small_weights, image, SLOT_SIZE);

        printf("slot %u: %s\n", slot, cortexm_status_text(status));
        if (cortexm_init(&small, NULL, 0) == CORTEXM_OK) {
            run(slot); /* on these, or on the last ones that were taken */
        }
    }
    const void *const first = (const void *)SLOTS;
    printf("no room: %s\n", cortexm_status_text(cortexm_load_weights(
                                &small_weights, first, SMALL_WEIGHTS_SIZE - 1)));
    printf("askew: %s\n", cortexm_status_text(cortexm_check_weights(
                              &small_weights, (const uint8_t *)first + 4, SLOT_SIZE)));
    (void)cortexm_load_weights(&small_weights, NULL, 0);
    printf("taken away: %s\n", cortexm_status_text(cortexm_init(&small, NULL, 0)));
    return 0;
}
