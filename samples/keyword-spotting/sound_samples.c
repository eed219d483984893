/* SPDX-License-Identifier: Apache-2.0 */
/* Sound from the image: the recording that SAMPLES writes beside the model, call by call. */
#include <string.h>

#include "keyword_spotting_samples.h"
#include "sound.h"

bool sound_read(int16_t *samples, size_t count)
{
    static size_t next;

    if (next == KEYWORD_SPOTTING_SAMPLE_COUNT) {
        return false;
    }
    memcpy(samples, keyword_spotting_samples[next++].input, count * sizeof *samples);
    return true;
}
