/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a stream its hops of samples until the window is full and then some, twice; prints the outputs. */
#include <stdio.h>

#include "sound.h"

#define CALLS (SOUND_STREAM_WINDOW / SOUND_STREAM_HOP + 6)

_Static_assert(SOUND_INPUT_0_COUNT == SOUND_STREAM_HOP && SOUND_STREAM_DELAY == 0, "a hop a call");

static void listen(void)
{
    int16_t *const samples = cortexm_input(&sound, NULL, 0).data;
    const int8_t *const scores = cortexm_output(&sound, NULL, 0).data;
    unsigned seed = 1;

    for (int call = 0; call < CALLS; call++) {
        for (int k = 0; k < SOUND_STREAM_HOP; k++) {
            seed = (seed * 1103515245U + 12345U) & 0x7FFFFFFFU; /* the same in test_stream.py */
            samples[k] = (int16_t)((int)(seed >> 15) - 32768);
        }
        if (cortexm_invoke(&sound, NULL) != CORTEXM_OK) {
            printf("failed\n");
        }
        for (int k = 0; k < SOUND_OUTPUT_0_COUNT; k++) {
            printf("%d ", scores[k]);
        }
        printf("\n");
    }
}

int main(void)
{
    if (cortexm_init(&sound, NULL, 0) != CORTEXM_OK) {
        return 1;
    }
    listen();
    if (cortexm_reset(&sound, NULL) != CORTEXM_OK) {
        return 2;
    }
    listen();
    return 0;
}
