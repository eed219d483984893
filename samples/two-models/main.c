/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two models in one image: a worker thread reads digits while the main thread measures strokes. Each
 * model has an arena of its own, which is all the state there is, so nothing needs a lock.
 */
#include <cortexm/zephyr.h>
#include <stdio.h>
#include <string.h>
#include <zephyr/kernel.h>

#include "digits.h"
#include "digits_samples.h"
#include "strokes.h"
#include "strokes_samples.h"

BUILD_ASSERT(DIGITS_SAMPLE_COUNT == STROKES_SAMPLE_COUNT);

struct answer {
    int digit;
    bool equal; /* to the reference, in every byte */
};

K_MSGQ_DEFINE(questions, sizeof(int), 1, sizeof(int));
K_MSGQ_DEFINE(answers, sizeof(struct answer), 1, sizeof(int));

/* Runs a model on one of its samples; true if the result is that of the reference. */
static bool run(const cortexm_model_t *model, const cortexm_sample_t *sample)
{
    const cortexm_tensor_t input = cortexm_input(model, NULL, 0);
    const cortexm_tensor_t output = cortexm_output(model, NULL, 0);

    memcpy(input.data, sample->input, input.info->size);
    return cortexm_invoke(model, NULL) == CORTEXM_OK &&
           memcmp(output.data, sample->expected, output.info->size) == 0;
}

static void read_digits(void *unused1, void *unused2, void *unused3)
{
    ARG_UNUSED(unused1);
    ARG_UNUSED(unused2);
    ARG_UNUSED(unused3);

    const float *const probability = cortexm_output(&digits, NULL, 0).data;
    struct answer answer;
    int number;

    if (cortexm_init(&digits, NULL, 0) != CORTEXM_OK) {
        return;
    }
    while (k_msgq_get(&questions, &number, K_FOREVER) == 0) {
        answer.equal = run(&digits, &digits_samples[number]);
        answer.digit = 0;
        for (int i = 1; i < DIGITS_OUTPUT_0_COUNT; i++) {
            if (probability[i] > probability[answer.digit]) {
                answer.digit = i;
            }
        }
        k_msgq_put(&answers, &answer, K_FOREVER);
    }
}

/* The stacks of both threads follow from what the models take; 768 bytes are for all else. */
K_THREAD_DEFINE(worker, CORTEXM_THREAD_STACK_SIZE(DIGITS_STACK_SIZE, 768), read_digits, NULL, NULL,
                NULL, K_PRIO_PREEMPT(1), 0, 0);
CORTEXM_ASSERT_MAIN_STACK(STROKES_STACK_SIZE, 768);

int main(void)
{
    const float *const strength = cortexm_output(&strokes, NULL, 0).data;
    struct answer answer;
    int equal = 0;

    const cortexm_status_t status = cortexm_init(&strokes, NULL, 0);

    if (status != CORTEXM_OK) {
        printf("cortexm_init: %s\n", cortexm_status_text(status));
        return 0;
    }
    for (int n = 0; n < STROKES_SAMPLE_COUNT; n++) {
        k_msgq_put(&questions, &n, K_FOREVER);
        const bool same = run(&strokes, &strokes_samples[n]);

        if (k_msgq_get(&answers, &answer, K_SECONDS(30)) != 0) {
            printf("the worker does not answer\n");
            return 0;
        }
        printf("scan %d: looks like a %d; strokes - %d | %d / %d \\ %d\n", n, answer.digit,
               (int)(strength[0] * 1000.0f), (int)(strength[1] * 1000.0f),
               (int)(strength[2] * 1000.0f), (int)(strength[3] * 1000.0f));
        equal += same && answer.equal;
    }
    printf("%d of %d scans equal to the reference in both models\n", equal, STROKES_SAMPLE_COUNT);
    printf("%s\n", equal == STROKES_SAMPLE_COUNT ? "PASSED" : "FAILED");
    return 0;
}
