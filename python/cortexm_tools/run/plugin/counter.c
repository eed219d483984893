/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts executed instructions exactly, per function, between marks.
 *
 *   -plugin counter.so,ranges=FILE,mark=ADDRESS,out=FILE
 *
 * `ranges` has a line "start end" in hexadecimal per function, sorted, without overlaps. Counting is
 * per function for the whole run; each time the instruction at `mark` executes, the total so far is
 * noted. `out` then has a line "mark TOTAL" for each of these, and "range INDEX COUNT" for each
 * function that executed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                           char **argv);

typedef struct {
    uint64_t start, end; /* addresses, end exclusive */
    uint64_t count;      /* instructions executed there */
} range_t;

static range_t *ranges;
static size_t range_count;
static range_t elsewhere;
static uint64_t total;
static uint64_t mark_address;
static uint64_t *marks;
static size_t mark_count, mark_room;
static const char *out_path;

static range_t *find_range(uint64_t address)
{
    size_t low = 0, high = range_count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (address < ranges[middle].start) {
            high = middle;
        } else if (address >= ranges[middle].end) {
            low = middle + 1;
        } else {
            return &ranges[middle];
        }
    }
    return &elsewhere;
}

static void on_mark(unsigned int vcpu, void *data)
{
    (void)vcpu;
    (void)data;
    if (mark_count == mark_room) {
        mark_room = mark_room == 0 ? 1024 : 2 * mark_room;
        marks = realloc(marks, mark_room * sizeof *marks);
        if (marks == NULL) {
            abort();
        }
    }
    marks[mark_count++] = total;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);

    (void)id;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(tb, i);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);

        if (address == mark_address) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, NULL);
        }
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &total, 1);
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                   &find_range(address)->count, 1);
    }
}

static void write_counts(qemu_plugin_id_t id, void *data)
{
    FILE *const file = fopen(out_path, "w");

    (void)id;
    (void)data;
    if (file == NULL) {
        return;
    }
    for (size_t i = 0; i < mark_count; i++) {
        fprintf(file, "mark %" PRIu64 "\n", marks[i]);
    }
    for (size_t i = 0; i < range_count; i++) {
        if (ranges[i].count != 0) {
            fprintf(file, "range %zu %" PRIu64 "\n", i, ranges[i].count);
        }
    }
    fclose(file);
}

static int read_ranges(const char *path)
{
    FILE *const file = fopen(path, "r");
    size_t room = 0;
    range_t next = {0, 0, 0};

    if (file == NULL) {
        return -1;
    }
    while (fscanf(file, "%" SCNx64 " %" SCNx64, &next.start, &next.end) == 2) {
        if (range_count == room) {
            room = room == 0 ? 256 : 2 * room;
            ranges = realloc(ranges, room * sizeof *ranges);
            if (ranges == NULL) {
                abort();
            }
        }
        ranges[range_count++] = next;
    }
    fclose(file);
    return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "ranges=", 7) == 0) {
            if (read_ranges(argv[i] + 7) != 0) {
                fprintf(stderr, "counter: cannot read %s\n", argv[i] + 7);
                return -1;
            }
        } else if (strncmp(argv[i], "mark=", 5) == 0) {
            mark_address = strtoull(argv[i] + 5, NULL, 0);
        } else if (strncmp(argv[i], "out=", 4) == 0) {
            out_path = strdup(argv[i] + 4);
        }
    }
    if (out_path == NULL) {
        fprintf(stderr, "counter: out=FILE is missing\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, write_counts, NULL);
    return 0;
}
