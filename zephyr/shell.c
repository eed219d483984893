/* SPDX-License-Identifier: Apache-2.0 */
/* CONFIG_CORTEXM_SHELL: the models of the image, by name. Runs happen in the shell's thread, in the models'
 * own arenas: what the application has there is overwritten. */
#include <stdlib.h>
#include <string.h>
#include <zephyr/kernel.h>
#include <zephyr/shell/shell.h>
#include <zephyr/sys/util.h>

#include "models.h"

#define MOST_SHOWN 64 /* bytes of an output */
#define MOST_RUNS 1000

static const char *type_text(uint8_t dtype)
{
    static const char *const names[] = {"s8", "s16", "s32", "s64", "u8", "bool", "f32"};

    return dtype < ARRAY_SIZE(names) ? names[dtype] : "?";
}

static const struct cortexm_entry *find(const struct shell *sh, const char *name)
{
    for (size_t i = 0; i < cortexm_entry_count; i++) {
        if (strcmp(cortexm_entries[i].model->name, name) == 0) {
            return &cortexm_entries[i];
        }
    }
    shell_error(sh, "no model '%s'; cortexm list shows all", name);
    return NULL;
}

static int cmd_list(const struct shell *sh, size_t argc, char **argv)
{
    ARG_UNUSED(argc);
    ARG_UNUSED(argv);
    for (size_t i = 0; i < cortexm_entry_count; i++) {
        const cortexm_model_t *const model = cortexm_entries[i].model;

        shell_print(sh, "%s: arena %u B, stack %u B, %u inputs, %u outputs, %u samples",
                    model->name, (unsigned int)model->arena_size, (unsigned int)model->stack_size,
                    model->input_count, model->output_count,
                    (unsigned int)cortexm_entries[i].sample_count);
    }
    return 0;
}

static void show_tensors(const struct shell *sh, const char *role,
                         const cortexm_tensor_info_t *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const cortexm_tensor_info_t *const info = &tensors[i];

        shell_fprintf(sh, SHELL_NORMAL, "%s %u: %s %s ", role, (unsigned int)i, info->name,
                      type_text(info->dtype));
        for (unsigned int axis = 0; axis < info->rank; axis++) {
            shell_fprintf(sh, SHELL_NORMAL, axis > 0U ? "x%d" : "%d", (int)info->shape[axis]);
        }
        shell_fprintf(sh, SHELL_NORMAL, ", %u B at offset %u", (unsigned int)info->size,
                      (unsigned int)info->offset);
        if (info->scale != 0.0f) {
            /* Without floats in printf: in millionths. */
            shell_fprintf(sh, SHELL_NORMAL, ", scale %u e-6, zero point %d",
                          (unsigned int)(info->scale * 1e6f + 0.5f), (int)info->zero_point);
        }
        shell_print(sh, "");
    }
}

static int cmd_info(const struct shell *sh, size_t argc, char **argv)
{
    const struct cortexm_entry *const entry = find(sh, argv[1]);

    ARG_UNUSED(argc);
    if (entry == NULL) {
        return -ENOENT;
    }
    const cortexm_model_t *const model = entry->model;

    shell_print(sh, "%s: abi %u", model->name, (unsigned int)model->abi);
    if (model->arena != NULL) {
        shell_print(sh, "arena %u B at %p", (unsigned int)model->arena_size, model->arena);
    } else {
        shell_print(sh, "arena %u B, the caller's", (unsigned int)model->arena_size);
    }
    shell_print(sh, "stack %u B", (unsigned int)model->stack_size);
    show_tensors(sh, "input", model->inputs, model->input_count);
    show_tensors(sh, "output", model->outputs, model->output_count);
    return 0;
}

static int refuse(const struct shell *sh, const cortexm_model_t *model, cortexm_status_t status)
{
    shell_error(sh, "%s: %s (%d)", model->name, cortexm_status_text(status), status);
    return -EIO;
}

/* The model, ready to run; NULL if it is not. */
static const struct cortexm_entry *prepare(const struct shell *sh, const char *name)
{
    const struct cortexm_entry *const entry = find(sh, name);

    if (entry == NULL) {
        return NULL;
    }
    const cortexm_status_t status = cortexm_init(entry->model, NULL, 0);

    if (status != CORTEXM_OK) {
        (void)refuse(sh, entry->model, status);
        return NULL;
    }
    return entry;
}

static int run_samples(const struct shell *sh, const struct cortexm_entry *entry)
{
    size_t equal = 0;

    for (size_t i = 0; i < entry->sample_count; i++) {
        const int differing = cortexm_check_sample(entry->model, NULL, &entry->samples[i]);

        if (differing < 0) {
            return refuse(sh, entry->model, differing);
        }
        equal += differing == 0;
        if (differing > 0) {
            shell_print(sh, "sample %u: %d bytes differ", (unsigned int)i, differing);
        }
    }
    shell_print(sh, "%u of %u samples equal to the reference in every byte", (unsigned int)equal,
                (unsigned int)entry->sample_count);
    return equal == entry->sample_count ? 0 : -EILSEQ;
}

/* Hexadecimal digits for the inputs, one behind the other; what is not given is zero. */
static int write_inputs(const struct shell *sh, const cortexm_model_t *model, const char *text)
{
    for (size_t i = 0; i < model->input_count; i++) {
        const cortexm_tensor_t input = cortexm_input(model, NULL, i);
        const size_t digits = MIN(strlen(text), 2U * input.info->size);

        memset(input.data, 0, input.info->size);
        if (digits > 0U && hex2bin(text, digits, input.data, input.info->size) == 0U) {
            shell_error(sh, "'%s': give bytes as hexadecimal digits", text);
            return -EINVAL;
        }
        text += digits;
    }
    if (*text != '\0') {
        shell_error(sh, "more bytes than the inputs have");
        return -EINVAL;
    }
    return 0;
}

static int cmd_run(const struct shell *sh, size_t argc, char **argv)
{
    const struct cortexm_entry *const entry = prepare(sh, argv[1]);

    if (entry == NULL) {
        return -ENOENT;
    }
    const cortexm_model_t *const model = entry->model;

    if (argc < 3 && entry->sample_count > 0U) {
        return run_samples(sh, entry);
    }
    const int written = write_inputs(sh, model, argc < 3 ? "" : argv[2]);

    if (written != 0) {
        return written;
    }
    const cortexm_status_t status = cortexm_invoke(model, NULL);

    if (status != CORTEXM_OK) {
        return refuse(sh, model, status);
    }
    for (size_t i = 0; i < model->output_count; i++) {
        const cortexm_tensor_t output = cortexm_output(model, NULL, i);
        const size_t shown = MIN(output.info->size, MOST_SHOWN);

        shell_fprintf(sh, SHELL_NORMAL, "output %u: ", (unsigned int)i);
        for (size_t k = 0; k < shown; k++) {
            shell_fprintf(sh, SHELL_NORMAL, "%02x", ((const uint8_t *)output.data)[k]);
        }
        shell_print(sh, shown < output.info->size ? " ..." : "");
    }
    return 0;
}

static int cmd_bench(const struct shell *sh, size_t argc, char **argv)
{
    const struct cortexm_entry *const entry = prepare(sh, argv[1]);
    char *end = "";
    const long runs = argc < 3 ? 10L : strtol(argv[2], &end, 10);
    uint32_t least = UINT32_MAX, most = 0;
    uint64_t total = 0;

    if (entry == NULL) {
        return -ENOENT;
    }
    if (*end != '\0' || runs < 1L || runs > MOST_RUNS) {
        shell_error(sh, "'%s' is not a number of runs: give 1 to %d", argv[2], MOST_RUNS);
        return -EINVAL;
    }
    for (long n = 0; n < runs; n++) {
        (void)write_inputs(sh, entry->model, "");

        const uint32_t start = k_cycle_get_32();
        const cortexm_status_t status = cortexm_invoke(entry->model, NULL);
        const uint32_t cycles = k_cycle_get_32() - start;

        if (status != CORTEXM_OK) {
            return refuse(sh, entry->model, status);
        }
        least = MIN(least, cycles);
        most = MAX(most, cycles);
        total += cycles;
    }
    shell_print(sh, "%s: %ld runs, %u to %u cycles, %u on average, at %u Hz", entry->model->name,
                runs, (unsigned int)least, (unsigned int)most, (unsigned int)(total / (uint64_t)runs),
                (unsigned int)sys_clock_hw_cycles_per_sec());
    return 0;
}

static void name_at(size_t index, struct shell_static_entry *entry)
{
    entry->syntax = index < cortexm_entry_count ? cortexm_entries[index].model->name : NULL;
    entry->handler = NULL;
    entry->help = NULL;
    entry->subcmd = NULL;
}

SHELL_DYNAMIC_CMD_CREATE(cortexm_names, name_at);

SHELL_STATIC_SUBCMD_SET_CREATE(
    cortexm_commands, SHELL_CMD_ARG(list, NULL, "The models of this image", cmd_list, 1, 0),
    SHELL_CMD_ARG(info, &cortexm_names, "NAME: memory, inputs and outputs", cmd_info, 2, 0),
    SHELL_CMD_ARG(run, &cortexm_names,
                  "NAME [HEX]: run on these bytes; without them on the recorded samples, or on zeros",
                  cmd_run, 2, 1),
    SHELL_CMD_ARG(bench, &cortexm_names, "NAME [RUNS]: cycles of runs on zeros", cmd_bench, 2, 1),
    SHELL_SUBCMD_SET_END);

SHELL_CMD_REGISTER(cortexm, &cortexm_commands, "PyTorch models compiled to C", NULL);
