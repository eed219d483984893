/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model on a blank input; exit status 0 if it ran and its outputs sum to about 1. */
#include <stdio.h>
#include <string.h>

#include "digits.h"

#if !__has_include("cortexm/model.h") || __has_include("cortexm/kernels.h")
#error "an application sees the public header and no internal one"
#endif

int main(void)
{
    if (cortexm_init(&digits, NULL, 0) != CORTEXM_OK) {
        return 1;
    }
    const cortexm_tensor_t input = cortexm_input(&digits, NULL, 0);
    memset(input.data, 0, input.info->size);
    if (cortexm_invoke(&digits, NULL) != CORTEXM_OK) {
        return 2;
    }
    const float *const probability = cortexm_output(&digits, NULL, 0).data;
    float sum = 0.0f;
    for (int i = 0; i < DIGITS_OUTPUT_0_COUNT; i++) {
        sum += probability[i];
    }
    printf("ran, sum %d percent\n", (int)(100.0f * sum + 0.5f));
    return sum > 0.9f && sum < 1.1f ? 0 : 3;
}
