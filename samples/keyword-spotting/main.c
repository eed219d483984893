/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says which of ten words it hears. Sound comes from sound_read(): the microphone of the board, or a
 * recording. The same source runs bare-metal and on an operating system.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "keyword_spotting.h"
#include "sound.h"

#define CLASSES KEYWORD_SPOTTING_OUTPUT_0_COUNT
#define HOP KEYWORD_SPOTTING_STREAM_HOP
#define FIRST_WORD 2 /* before it: silence, and words that are none of these */
#define SMOOTHED 10  /* calls whose probabilities are averaged, 200 ms */
#define PAUSE 10     /* calls without a word before the same one is heard again, 200 ms */
#define CERTAIN 0.7f /* how probable a word has to be */

static const char *const names[CLASSES] = {"silence", "unknown", "yes",   "no", "up",  "down",
                                           "left",    "right",   "on",    "off", "stop", "go"};

/* The codes of the last calls, and their sums. */
struct smoothing {
    int8_t codes[SMOOTHED][CLASSES];
    int sums[CLASSES];
    int next; /* the oldest of them */
    int last; /* the word that was heard */
    int wait; /* calls until it may be heard again */
};

/* Takes the probabilities of a call; returns the word that was spoken, or -1. */
static int spoken(struct smoothing *s, const int8_t *codes)
{
    const float certain = CERTAIN / KEYWORD_SPOTTING_OUTPUT_0_SCALE + KEYWORD_SPOTTING_OUTPUT_0_ZERO_POINT;
    int best = FIRST_WORD;

    for (int i = 0; i < CLASSES; i++) {
        s->sums[i] += codes[i] - s->codes[s->next][i];
        s->codes[s->next][i] = codes[i];
        best = i > best && s->sums[i] > s->sums[best] ? i : best;
    }
    s->next = (s->next + 1) % SMOOTHED;
    if ((float)s->sums[best] < certain * SMOOTHED) {
        s->wait -= s->wait > 0;
        return -1;
    }
    const int heard = s->wait == 0 || best != s->last ? best : -1;

    s->last = best;
    s->wait = PAUSE;
    return heard;
}

int main(void)
{
    static struct smoothing smoothing;
    uint32_t digest = 2166136261U; /* FNV-1a of all outputs, to compare with the reference's */
    unsigned calls = 0;

    memset(smoothing.codes, KEYWORD_SPOTTING_OUTPUT_0_ZERO_POINT, sizeof smoothing.codes);
    for (int i = 0; i < CLASSES; i++) {
        smoothing.sums[i] = SMOOTHED * KEYWORD_SPOTTING_OUTPUT_0_ZERO_POINT;
    }
    const cortexm_status_t status = cortexm_init(&keyword_spotting, NULL, 0);
    if (status != CORTEXM_OK) {
        printf("cortexm_init: %s\n", cortexm_status_text(status));
        return 1;
    }
    int16_t *const samples = cortexm_input(&keyword_spotting, NULL, 0).data;
    const int8_t *const codes = cortexm_output(&keyword_spotting, NULL, 0).data;

    while (sound_read(samples, HOP)) {
        const cortexm_status_t done = cortexm_invoke(&keyword_spotting, NULL);
        if (done != CORTEXM_OK) {
            printf("cortexm_invoke: %s\n", cortexm_status_text(done));
            return 1;
        }
        calls++;
        for (int i = 0; i < CLASSES; i++) {
            digest = (digest ^ (uint8_t)codes[i]) * 16777619U;
        }
        const int word = spoken(&smoothing, codes);
        if (word >= 0) {
            const unsigned ms = calls * (HOP / SOUND_KHZ);

            printf("%3u.%02u s  %s\n", ms / 1000U, ms % 1000U / 10U, names[word]);
        }
    }
    printf("%u calls, outputs %08lx\n", calls, (unsigned long)digest);
    return calls == 0U;
}
