/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads programs at run time and runs each on rows of inputs:  runner JOBS
 *
 * JOBS is text. A job: the path of the .pte; the method; arena bytes; the pools (state, spans, method,
 * temporary: offset and size each); then counted lists of (offset, size) for planned buffers, inputs and
 * outputs; the number of rows; the files of inputs and outputs. Printed for each job: ExecuTorch's error
 * number, and the bytes it has taken from the method pool.
 */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../../runtime/executorch/state.h"
#include "cortexm/executorch.h"
#include "cortexm/model.h"

/* Generated: all programs' operators. */
extern const void *const batch_kernels;
extern const uint32_t batch_kernel_count;

namespace {

[[noreturn]] void fail(const char *what)
{
    std::fprintf(stderr, "runner: %s\n", what);
    std::exit(2);
}

std::string word(FILE *jobs)
{
    char text[4096];

    if (std::fscanf(jobs, "%4095s", text) != 1) {
        fail("the job file is too short");
    }
    return text;
}

uint32_t number(FILE *jobs)
{
    return static_cast<uint32_t>(std::strtoul(word(jobs).c_str(), nullptr, 10));
}

cortexm_et_pool_t pool(FILE *jobs)
{
    const uint32_t offset = number(jobs);

    return {offset, number(jobs)};
}

std::vector<cortexm_et_pool_t> pools(FILE *jobs)
{
    std::vector<cortexm_et_pool_t> list(number(jobs));

    for (auto &entry : list) {
        entry = pool(jobs);
    }
    return list;
}

FILE *open(const std::string &path, const char *mode)
{
    FILE *const file = std::fopen(path.c_str(), mode);

    if (file == nullptr) {
        fail(path.c_str());
    }
    return file;
}

std::vector<uint8_t> contents(const std::string &path)
{
    FILE *const file = open(path, "rb");
    std::vector<uint8_t> data;
    uint8_t block[65536];

    for (size_t n = 0; (n = std::fread(block, 1, sizeof block, file)) > 0;) {
        data.insert(data.end(), block, block + n);
    }
    std::fclose(file);
    return data;
}

void run(FILE *jobs)
{
    const std::string path = word(jobs);
    const std::string method = word(jobs);
    const uint32_t arena_size = number(jobs);
    cortexm_et_program_t p = {};

    const cortexm_et_pool_t state = pool(jobs);
    p.state_size = state.size;
    p.spans = pool(jobs);
    p.method_pool = pool(jobs);
    p.temp_pool = pool(jobs);
    const auto planned = pools(jobs);
    const auto inputs = pools(jobs);
    const auto outputs = pools(jobs);
    const uint32_t rows = number(jobs);
    const std::vector<uint8_t> given = contents(word(jobs));
    FILE *const results = open(word(jobs), "wb");
    const std::vector<uint8_t> file = contents(path);
    /* The program aligned as in an image; guard bytes behind the arena. */
    auto *const pte = static_cast<uint8_t *>(std::aligned_alloc(16, (file.size() + 15) / 16 * 16));
    auto *const arena = static_cast<uint8_t *>(std::aligned_alloc(16, arena_size + 64));

    std::copy(file.begin(), file.end(), pte);
    std::fill(arena, arena + arena_size + 64, uint8_t{0xA5});
    p.pte = pte;
    p.pte_size = file.size();
    p.method = method.c_str();
    p.kernels = batch_kernels;
    p.kernel_count = batch_kernel_count;
    p.planned = planned.data();
    p.planned_count = static_cast<uint32_t>(planned.size());
    p.inputs = inputs.data();
    p.input_count = static_cast<uint32_t>(inputs.size());
    p.outputs = outputs.data();
    p.output_count = static_cast<uint32_t>(outputs.size());

    cortexm_et_init(&p, arena);
    const size_t used = reinterpret_cast<cortexm_et::State *>(arena)->method_allocator.used_size();
    size_t at = 0;

    for (uint32_t row = 0; row < rows && cortexm_et_status(arena) == CORTEXM_OK; ++row) {
        for (const auto &input : inputs) {
            if (at + input.size > given.size()) {
                fail("a file of inputs is too short");
            }
            std::copy(given.begin() + static_cast<long>(at),
                      given.begin() + static_cast<long>(at + input.size), arena + input.offset);
            at += input.size;
        }
        cortexm_et_invoke(&p, arena);
        for (const auto &output : outputs) {
            std::fwrite(arena + output.offset, 1, output.size, results);
        }
    }
    for (uint32_t i = 0; i < 64; ++i) {
        if (arena[arena_size + i] != 0xA5) {
            fail("bytes behind the arena were overwritten");
        }
    }
    std::printf("%" PRIu32 " %zu\n", cortexm_et_error(arena), used);
    std::fclose(results);
    std::free(arena);
    std::free(pte);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        fail("give a job file");
    }
    FILE *const jobs = open(argv[1], "r");

    for (uint32_t left = number(jobs); left > 0; --left) {
        run(jobs);
    }
    std::fclose(jobs);
    return 0;
}
