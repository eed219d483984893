/* SPDX-License-Identifier: Apache-2.0 */
/* Calls two models by turns, begins anew, and serves two sequences of one model; prints the outputs. */
#include <stdio.h>
#include <string.h>

#include "recurrent.h"
#include "streaming.h"

/* Element k of the input of a call: the same in test_state.py. */
static float element(size_t call, size_t k)
{
    return ((float)((7U * call + 3U * k) % 11U) - 5.0f) * 0.25f;
}

static void run(const cortexm_model_t *model, size_t call)
{
    const cortexm_tensor_t input = cortexm_input(model, NULL, 0);
    float *const values = input.data;

    for (size_t k = 0; k < input.info->size / sizeof *values; k++) {
        values[k] = element(call, k);
    }
    if (cortexm_invoke(model, NULL) != CORTEXM_OK) {
        printf("failed\n");
    }
    const cortexm_tensor_t output = cortexm_output(model, NULL, 0);
    const uint8_t *const bytes = output.data;

    printf("%s %u ", model->name, (unsigned)call);
    for (size_t k = 0; k < output.info->size; k++) {
        printf("%02x", bytes[k]);
    }
    printf("\n");
}

int main(void)
{
    static uint8_t first[STREAMING_STATE_SIZE], second[STREAMING_STATE_SIZE];

    if (streaming.arena != recurrent.arena || cortexm_init(&streaming, NULL, 0) != CORTEXM_OK ||
        cortexm_init(&recurrent, NULL, 0) != CORTEXM_OK) {
        return 1;
    }
    memcpy(second, streaming_state, sizeof second);
    for (size_t call = 0; call < 4; call++) {
        run(&streaming, call);
        run(&recurrent, call);
    }
    /* A second sequence of the one, while the other goes on. */
    memcpy(first, streaming_state, sizeof first);
    memcpy(streaming_state, second, sizeof second);
    run(&streaming, 9);
    run(&recurrent, 4);
    memcpy(streaming_state, first, sizeof first);
    run(&streaming, 4);
    /* Anew. */
    if (cortexm_reset(&recurrent, NULL) != CORTEXM_OK ||
        cortexm_reset(NULL, NULL) != CORTEXM_ERR_ARGUMENT) {
        return 2;
    }
    run(&recurrent, 0);
    printf("done\n");
    return 0;
}
