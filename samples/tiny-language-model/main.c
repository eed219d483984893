/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continues a text, one character a call. What the model has read is its state; a call adds one position
 * to it. The same source runs bare-metal and on an operating system.
 */
#include <stdint.h>
#include <stdio.h>

#include "tiny_language_model.h"

#ifndef PROMPT
#define PROMPT "Return a "
#endif
#ifndef LENGTH
#define LENGTH CONTEXT /* characters with those of the prompt */
#endif
#define CONTEXT 128 /* positions that the model knows */
#define CHARACTERS TINY_LANGUAGE_MODEL_OUTPUT_0_COUNT
#define TEMPERATURE 0.6f /* the lower, the more probable are the characters that are drawn */

/* The number of a character: 0 is the end of a line, the others follow ASCII. */
static int64_t number_of(char c)
{
    return c == '\n' ? 0 : c - ' ' + 1;
}

static char character_of(int number)
{
    return number == 0 ? '\n' : (char)(number - 1 + ' ');
}

/* Draws what follows from the codes of all scores; a probability falls with the distance to the best. */
static int drawn(const int8_t *codes, uint32_t *seed)
{
    const float s = TINY_LANGUAGE_MODEL_OUTPUT_0_SCALE / TEMPERATURE;
    const float ratio = 1.0f / (1.0f + s * (1.0f + s / 2.0f * (1.0f + s / 3.0f * (1.0f + s / 4.0f))));
    static float power[256] = {1.0f}; /* exp(-s)^i */
    float sum = 0.0f;
    int best = 0;

    for (int i = 1; i < 256; i++) {
        power[i] = power[i - 1] * ratio;
    }
    for (int i = 1; i < CHARACTERS; i++) {
        best = codes[i] > codes[best] ? i : best;
    }
    for (int i = 0; i < CHARACTERS; i++) {
        sum += power[codes[best] - codes[i]];
    }
    *seed = *seed * 1664525U + 1013904223U;

    float left = (float)(*seed >> 8) / 16777216.0f * sum;

    for (int i = 0; i < CHARACTERS; i++) {
        left -= power[codes[best] - codes[i]];
        if (left < 0.0f) {
            return i;
        }
    }
    return best;
}

int main(void)
{
    static const char prompt[] = PROMPT;
    const int given = (int)sizeof prompt - 1;
    uint32_t seed = 1U, digest = 2166136261U; /* FNV-1a of all scores, to compare with the reference's */

    const cortexm_status_t status = cortexm_init(&tiny_language_model, NULL, 0);
    if (status != CORTEXM_OK) {
        printf("cortexm_init: %s\n", cortexm_status_text(status));
        return 1;
    }
    int64_t *const token = cortexm_input(&tiny_language_model, NULL, 0).data;
    int64_t *const position = cortexm_input(&tiny_language_model, NULL, 1).data;
    const int8_t *const codes = cortexm_output(&tiny_language_model, NULL, 0).data;
    char next = prompt[0];

    for (int at = 0; at < LENGTH; at++) {
        *token = number_of(next);
        *position = at;
        const cortexm_status_t done = cortexm_invoke(&tiny_language_model, NULL);
        if (done != CORTEXM_OK) {
            printf("cortexm_invoke: %s\n", cortexm_status_text(done));
            return 1;
        }
        putchar(next);
        for (int i = 0; i < CHARACTERS; i++) {
            digest = (digest ^ (uint8_t)codes[i]) * 16777619U;
        }
        next = at + 1 < given ? prompt[at + 1] : character_of(drawn(codes, &seed));
    }
    printf("\n%d calls, scores %08lx\n", LENGTH, (unsigned long)digest);
    return 0;
}
