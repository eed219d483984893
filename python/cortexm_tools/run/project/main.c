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
extern const cortexm_model_t *const runner_models[]; /* a NULL ends them */
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

/* The exit status of a run that cannot go on; cortexm_tools/run/result.py has words for each, which then
 * take no flash. What cortexm_init() or cortexm_invoke() returned is subtracted from the last two. */
enum {
    RUNNER_NO_FILES = 200,
    RUNNER_OTHER_FILE = 201,
    RUNNER_SHORT_FILE = 202,
    RUNNER_NOT_WRITTEN = 203,
    RUNNER_OTHER_WEIGHTS = 204, /* in models.c */
    RUNNER_INIT = 210,
    RUNNER_INVOKE = 230
};

static void runner_require(int holds, int status)
{
    if (!holds) {
        board_exit(status);
    }
}

static void runner_read_all(int file, void *data, size_t size)
{
    runner_require(board_file_read(file, data, size) == size, RUNNER_SHORT_FILE);
}

static void runner_write_all(int file, const void *data, size_t size)
{
    runner_require(board_file_write(file, data, size) == size, RUNNER_NOT_WRITTEN);
}

/* Bytes that differ from one another and from call to call: reading a stale one shows. Returns the state
 * to go on with. */
static uint32_t runner_poison(uint8_t *arena, size_t size, uint32_t state)
{
    for (size_t i = 0; i < size; i++) {
        state = state * 5U + 1U;
        arena[i] = (uint8_t)(state >> 24);
    }
    return state;
}

static int runner_invoke(void *context)
{
    const runner_job_t *const job = context;

    return cortexm_invoke(job->model, job->arena);
}

/* One section of inputs.bin and outputs.bin. */
static void runner_run(runner_job_t *job, size_t size, int in, int out)
{
    const cortexm_model_t *const model = job->model;
    uint32_t header[3];
    uint32_t noise = INPUT_MAGIC;

    runner_read_all(in, header, sizeof header);
    runner_require(header[0] == INPUT_MAGIC, RUNNER_OTHER_FILE);
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
    const cortexm_status_t status = cortexm_init(model, job->arena, size);
    runner_require(status == CORTEXM_OK, RUNNER_INIT - status);
    for (uint32_t n = 0; n < header[1]; n++) {
        if (header[2] != 0U) {
            noise = runner_poison(job->arena, model->arena_size, noise);
        }
        for (size_t i = 0; i < model->input_count; i++) {
            const cortexm_tensor_t input = cortexm_input(model, job->arena, i);
            runner_read_all(in, input.data, input.info->size);
        }
        const board_measurement_t cost = board_measure(runner_invoke, job);
        runner_require(cost.result == CORTEXM_OK, RUNNER_INVOKE - cost.result);
        const uint32_t words[3] = {(uint32_t)cost.count, (uint32_t)(cost.count >> 32),
                                   (uint32_t)cost.stack_bytes};
        runner_write_all(out, words, sizeof words);
#ifdef RUNNER_MARKS
        runner_write_all(marks, runner_marks, sizeof runner_marks);
#endif
        for (size_t i = 0; i < model->output_count; i++) {
            const cortexm_tensor_t output = cortexm_output(model, job->arena, i);
            runner_write_all(out, output.data, output.info->size);
        }
    }
}

int main(void)
{
    const int in = board_file_open("inputs.bin", BOARD_FILE_READ);
    const int out = board_file_open("outputs.bin", BOARD_FILE_WRITE);

    runner_require(in >= 0 && out >= 0, RUNNER_NO_FILES);
#ifdef RUNNER_APART
    runner_load();
#endif
    for (const cortexm_model_t *const *model = runner_models; *model != NULL; model++) {
        size_t size = (*model)->arena_size;
        void *const own = (*model)->arena;
        runner_job_t job = {*model, own != NULL ? own : board_spare_ram(&size)};

        runner_run(&job, size, in, out);
    }
    board_file_close(out);
    return 0;
}
