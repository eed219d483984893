/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads some handwritten digits, and checks that this device computes exactly what the reference on
 * the build machine did. The same source runs bare-metal and on an operating system.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "model_samples.h"

#define WIDTH 8
#define SHOWN 3 /* scans to draw; the others get one line each */

static void draw(const float *pixels)
{
    static const char shades[] = " .:-=+*#%@";

    for (int y = 0; y < WIDTH; y++) {
        char line[2 * WIDTH + 1];

        for (int x = 0; x < WIDTH; x++) {
            const char shade = shades[(int)(pixels[y * WIDTH + x] * 9.0f + 0.5f)];

            line[2 * x] = shade;
            line[2 * x + 1] = shade;
        }
        line[2 * WIDTH] = '\0';
        printf("    |%s|\n", line);
    }
}

static int most_likely(const float *probability)
{
    int best = 0;

    for (int i = 1; i < MODEL_OUTPUT_0_COUNT; i++) {
        if (probability[i] > probability[best]) {
            best = i;
        }
    }
    return best;
}

int main(void)
{
    int different = 0, right = 0;

    cortexm_status_t status = cortexm_init(&model, NULL, 0);
    if (status != CORTEXM_OK) {
        printf("cortexm_init: %s\n", cortexm_status_text(status));
        return 1;
    }
    const cortexm_tensor_t input = cortexm_input(&model, NULL, 0);
    const cortexm_tensor_t output = cortexm_output(&model, NULL, 0);

    for (int n = 0; n < MODEL_SAMPLE_COUNT; n++) {
        const cortexm_sample_t *sample = &model_samples[n];

        memcpy(input.data, sample->input, input.info->size);
        if (n < SHOWN) {
            draw(input.data);
        }
        status = cortexm_invoke(&model, NULL);
        if (status != CORTEXM_OK) {
            printf("cortexm_invoke: %s\n", cortexm_status_text(status));
            return 1;
        }
        const float *const probability = output.data;
        const int digit = most_likely(probability);
        const int equal = memcmp(output.data, sample->expected, output.info->size) == 0;

        printf("scan %d: looks like a %d (%d %%), is a %d; output %s the reference\n", n, digit,
               (int)(probability[digit] * 100.0f), (int)sample->label,
               equal ? "equals" : "DIFFERS FROM");
        right += digit == (int)sample->label;
        different += !equal;
    }
    printf("%d of %d right; %d of %d outputs equal to the reference in every byte\n", right,
           MODEL_SAMPLE_COUNT, MODEL_SAMPLE_COUNT - different, MODEL_SAMPLE_COUNT);
    printf("%s\n", different == 0 ? "PASSED" : "FAILED");
    return different == 0 ? 0 : 1;
}
