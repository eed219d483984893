/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the key of a telephone that is pressed in some recordings of 50 ms, loud and very quiet ones, and
 * checks that this device computes exactly what the reference on the build machine did. The same
 * source runs bare-metal and on an operating system.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keypad.h"
#include "keypad_samples.h"

static const char keys[] = "123A456B789C*0#D-"; /* and no key */

static int loudest(const int16_t *sound)
{
    int most = 0;

    for (int i = 0; i < KEYPAD_INPUT_0_COUNT; i++) {
        most = abs(sound[i]) > most ? abs(sound[i]) : most;
    }
    return most;
}

static int best(const int16_t *scores)
{
    int key = 0;

    for (int i = 1; i < KEYPAD_OUTPUT_0_COUNT; i++) {
        key = scores[i] > scores[key] ? i : key;
    }
    return key;
}

int main(void)
{
    int different = 0, right = 0;

    cortexm_status_t status = cortexm_init(&keypad, NULL, 0);
    if (status != CORTEXM_OK) {
        printf("cortexm_init: %s\n", cortexm_status_text(status));
        return 1;
    }
    const cortexm_tensor_t input = cortexm_input(&keypad, NULL, 0);
    const cortexm_tensor_t output = cortexm_output(&keypad, NULL, 0);

    for (int n = 0; n < KEYPAD_SAMPLE_COUNT; n++) {
        const cortexm_sample_t *sample = &keypad_samples[n];

        memcpy(input.data, sample->input, input.info->size);
        status = cortexm_invoke(&keypad, NULL);
        if (status != CORTEXM_OK) {
            printf("cortexm_invoke: %s\n", cortexm_status_text(status));
            return 1;
        }
        const int key = best(output.data);
        const int equal = memcmp(output.data, sample->expected, output.info->size) == 0;

        printf("sound of up to %5d: key %c, is %c; output %s the reference\n",
               loudest(sample->input), keys[key], keys[(int)sample->label],
               equal ? "equals" : "DIFFERS FROM");
        right += key == (int)sample->label;
        different += !equal;
    }
    printf("%d of %d right; %d of %d outputs equal to the reference in every byte\n", right,
           KEYPAD_SAMPLE_COUNT, KEYPAD_SAMPLE_COUNT - different, KEYPAD_SAMPLE_COUNT);
    printf("%s\n", different == 0 ? "PASSED" : "FAILED");
    return different == 0 ? 0 : 1;
}
