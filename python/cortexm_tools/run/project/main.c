/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a model on the inputs in inputs.bin and writes what comes out, and what it cost, to
 * outputs.bin. The format of both is described in cortexm_tools/run/result.py.
 */
#include "cortexm/model.h"
#include "cortexm_board.h"

#define INPUT_MAGIC 0x31495843U
#define OUTPUT_MAGIC 0x314F5843U

/* The model's name may be any word, so every name of this file has a prefix. */
extern const cortexm_model_t RUNNER_MODEL;
#define RUNNER (&RUNNER_MODEL)

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

static int runner_invoke(void *arena)
{
    return cortexm_invoke(RUNNER, arena);
}

static void runner_prepare(void *arena, size_t size)
{
    switch (cortexm_init(RUNNER, arena, size)) {
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

int main(void)
{
    uint32_t header[3];
    size_t size = RUNNER->arena_size;
    uint8_t *const arena = RUNNER->arena != NULL ? RUNNER->arena : board_spare_ram(&size);
    const int in = board_file_open("inputs.bin", BOARD_FILE_READ);
    const int out = board_file_open("outputs.bin", BOARD_FILE_WRITE);

    if (in < 0 || out < 0) {
        board_fail("cannot open inputs.bin or outputs.bin");
    }
    runner_read_all(in, header, sizeof header);
    if (header[0] != INPUT_MAGIC) {
        board_fail("inputs.bin is not a file of inputs");
    }
    const uint32_t first[3] = {OUTPUT_MAGIC, (uint32_t)RUNNER->arena_size, RUNNER->output_count};
    runner_write_all(out, first, sizeof first);
    for (size_t i = 0; i < RUNNER->output_count; i++) {
        const uint32_t bytes = (uint32_t)RUNNER->outputs[i].size;
        runner_write_all(out, &bytes, sizeof bytes);
    }

    runner_prepare(arena, size);
    for (uint32_t n = 0; n < header[1]; n++) {
        if (header[2] != 0U) {
            runner_poison(arena, RUNNER->arena_size, n);
            runner_prepare(arena, size);
        }
        for (size_t i = 0; i < RUNNER->input_count; i++) {
            runner_read_all(in, cortexm_input(RUNNER, arena, i).data, RUNNER->inputs[i].size);
        }
        const board_measurement_t cost = board_measure(runner_invoke, arena);
        if (cost.result != CORTEXM_OK) {
            board_fail("cortexm_invoke() failed");
        }
        const uint32_t stack = (uint32_t)cost.stack_bytes;
        runner_write_all(out, &cost.instructions, sizeof cost.instructions);
        runner_write_all(out, &stack, sizeof stack);
        for (size_t i = 0; i < RUNNER->output_count; i++) {
            runner_write_all(out, cortexm_output(RUNNER, arena, i).data, RUNNER->outputs[i].size);
        }
    }
    board_file_close(out);
    return 0;
}
