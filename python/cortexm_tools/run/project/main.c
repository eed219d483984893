/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs models on the inputs in inputs.bin and writes what comes out, and what it cost, to
 * outputs.bin. The format of both is described in cortexm_tools/run/result.py.
 */
#include "cortexm/model.h"
#include "cortexm_board.h"

#define INPUT_MAGIC 0x31495843U
#define OUTPUT_MAGIC 0x314F5843U

/* A model's name may be any word, so every name of this file has a prefix. */
extern const cortexm_model_t *const runner_models[];
extern const size_t runner_model_count;
void runner_load(void); /* weights that lie apart from the code */

/* What runner_invoke() runs. */
typedef struct {
    const cortexm_model_t *model;
    void *arena;
} runner_job_t;

#ifdef RUNNER_MARKS
/* On silicon: when each layer began, and when the last one was done. */
static uint64_t runner_marks[RUNNER_MARKS];

void cortexm_profile(const cortexm_model_t *model, uint32_t step)
{
    (void)model;
    if (step < RUNNER_MARKS) {
        runner_marks[step] = board_ticks();
    }
}

/* What a mark takes: two in a row, twice, as the first may come from a slow memory. */
static uint64_t runner_mark_cost(void)
{
    for (int turn = 0; turn < 2; turn++) {
        cortexm_profile(NULL, 0);
        cortexm_profile(NULL, 1);
    }
    return runner_marks[1] - runner_marks[0];
}
#else
/* A place for the counting plugin to watch; see run/profile.py. */
__attribute__((noinline)) void cortexm_profile(const cortexm_model_t *model, uint32_t step)
{
    (void)model;
    (void)step;
    __asm volatile("");
}
#endif

static void runner_read_all(int file, void *data, size_t size)
{
    if (board_file_read(file, data, size) != size) {
        board_fail("inputs.bin is too short for the model's inputs");
    }
}

static void runner_write_all(int file, const void *data, size_t size)
{
    if (board_file_write(file, data, size) != size) {
        board_fail("cannot write outputs.bin");
    }
}

/* Bytes that differ from one another and from call to call: reading a stale one shows. */
static void runner_poison(uint8_t *arena, size_t size, uint32_t seed)
{
    uint32_t state = seed * 2654435761U + 1U;

    for (size_t i = 0; i < size; i++) {
        state = state * 1664525U + 1013904223U;
        arena[i] = (uint8_t)(state >> 24);
    }
}

static int runner_invoke(void *context)
{
    const runner_job_t *const job = context;

    return cortexm_invoke(job->model, job->arena);
}

static void runner_prepare(const runner_job_t *job, size_t size)
{
    switch (cortexm_init(job->model, job->arena, size)) {
    case CORTEXM_OK:
        return;
    case CORTEXM_ERR_ARENA_SIZE:
        board_fail("the model's arena does not fit this board's RAM");
    case CORTEXM_ERR_ARENA_ALIGN:
        board_fail("the model's arena is misaligned");
    case CORTEXM_ERR_ABI:
        board_fail("the model was generated for another version of the library");
    default:
        board_fail("cortexm_init() failed");
    }
}

/* One section of inputs.bin and outputs.bin. */
static void runner_run(runner_job_t *job, size_t size, int in, int out)
{
    const cortexm_model_t *const model = job->model;
    uint32_t header[3];

    runner_read_all(in, header, sizeof header);
    if (header[0] != INPUT_MAGIC) {
        board_fail("inputs.bin is not a file of inputs");
    }
    const uint32_t first[3] = {OUTPUT_MAGIC, (uint32_t)model->arena_size, model->output_count};
    runner_write_all(out, first, sizeof first);
    for (size_t i = 0; i < model->output_count; i++) {
        const uint32_t bytes = (uint32_t)model->outputs[i].size;
        runner_write_all(out, &bytes, sizeof bytes);
    }

#ifdef RUNNER_MARKS
    const int marks = board_file_open("marks.bin", BOARD_FILE_WRITE);
    const uint64_t each = runner_mark_cost();
    runner_write_all(marks, &each, sizeof each);
#endif
    runner_prepare(job, size);
    for (uint32_t n = 0; n < header[1]; n++) {
        if (header[2] != 0U) {
            runner_poison(job->arena, model->arena_size, n);
        }
        for (size_t i = 0; i < model->input_count; i++) {
            runner_read_all(in, cortexm_input(model, job->arena, i).data, model->inputs[i].size);
        }
        const board_measurement_t cost = board_measure(runner_invoke, job);
        if (cost.result != CORTEXM_OK) {
            board_fail("cortexm_invoke() failed");
        }
        const uint32_t stack = (uint32_t)cost.stack_bytes;
        runner_write_all(out, &cost.count, sizeof cost.count);
        runner_write_all(out, &stack, sizeof stack);
#ifdef RUNNER_MARKS
        runner_write_all(marks, runner_marks, sizeof runner_marks);
#endif
        for (size_t i = 0; i < model->output_count; i++) {
            const cortexm_tensor_t result = cortexm_output(model, job->arena, i);
            runner_write_all(out, result.data, model->outputs[i].size);
        }
    }
}

int main(void)
{
    size_t spare = 0;
    const int in = board_file_open("inputs.bin", BOARD_FILE_READ);
    const int out = board_file_open("outputs.bin", BOARD_FILE_WRITE);

    if (in < 0 || out < 0) {
        board_fail("cannot open inputs.bin or outputs.bin");
    }
    for (size_t i = 0; i < runner_model_count; i++) {
        if (runner_models[i]->arena == NULL && runner_models[i]->arena_size > spare) {
            spare = runner_models[i]->arena_size;
        }
    }
    runner_load();
    void *const shared = board_spare_ram(&spare);
    for (size_t i = 0; i < runner_model_count; i++) {
        const cortexm_model_t *const model = runner_models[i];
        runner_job_t job = {model, model->arena != NULL ? model->arena : shared};

        runner_run(&job, model->arena != NULL ? model->arena_size : spare, in, out);
    }
    board_file_close(out);
    return 0;
}
