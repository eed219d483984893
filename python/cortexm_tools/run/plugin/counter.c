/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts executed instructions exactly, per address, between marks.
 *
 *   -plugin counter.so,mark=ADDRESS,out=FILE
 *
 * Each time the instruction at `mark` executes, the total so far is noted. `out` then has a line
 * "mark TOTAL" for each of these, and for each instruction that executed a line
 *
 *   insn ADDRESS COUNT WINDOW TAKEN
 *
 * ADDRESS in hexadecimal, COUNT in the whole run, WINDOW between the first and the last mark, and
 * TAKEN how often in that window the next instruction was not the one behind it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                           char **argv);

/* An instruction; `first` and `last` are the counts at the first and the last mark so far. */
typedef struct insn {
    uint64_t address;
    uint64_t count, taken;
    uint64_t count_first, count_last, taken_first, taken_last;
    struct insn *next; /* in the bucket */
} insn_t;

/* A translated block: what QEMU runs at once. */
typedef struct {
    uint64_t start, end; /* addresses, end exclusive */
    insn_t *last;
} block_t;

#define BUCKETS 65536U
static insn_t *buckets[BUCKETS];
static const block_t *previous;
static uint64_t total;
static uint64_t mark_address;
static uint64_t *marks;
static size_t mark_count, mark_room;
static const char *out_path;

static void *must_allocate(size_t size)
{
    void *const memory = calloc(1, size);

    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* The counters of an address; blocks can be translated more than once. */
static insn_t *find_insn(uint64_t address)
{
    insn_t **place = &buckets[(address >> 1) % BUCKETS];

    while (*place != NULL && (*place)->address != address) {
        place = &(*place)->next;
    }
    if (*place == NULL) {
        *place = must_allocate(sizeof **place);
        (*place)->address = address;
        (*place)->next = NULL;
    }
    return *place;
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
    for (size_t i = 0; i < BUCKETS; i++) {
        for (insn_t *insn = buckets[i]; insn != NULL; insn = insn->next) {
            if (mark_count == 1) {
                insn->count_first = insn->count;
                insn->taken_first = insn->taken;
            }
            insn->count_last = insn->count;
            insn->taken_last = insn->taken;
        }
    }
}

static void on_block(unsigned int vcpu, void *data)
{
    const block_t *const block = data;

    (void)vcpu;
    if (previous != NULL && previous->end != block->start) {
        previous->last->taken++;
    }
    previous = block;
}

/* Bytes of a Thumb instruction, as its first half says. QEMU's own figure is larger at the end of a page
 * where the next instruction crosses it. */
static uint64_t size_of(const struct qemu_plugin_insn *insn)
{
    const uint8_t *const bytes = qemu_plugin_insn_data(insn);

    return bytes[1] >> 3 >= 0x1d ? 4 : 2;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);
    block_t *const block = must_allocate(sizeof *block);

    (void)id;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(tb, i);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);
        insn_t *const counters = find_insn(address);

        if (address == mark_address) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, NULL);
        }
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &total, 1);
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                   &counters->count, 1);
        if (i == 0) {
            block->start = address;
        }
        block->end = address + size_of(insn);
        block->last = counters;
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
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
    for (size_t i = 0; i < BUCKETS; i++) {
        for (const insn_t *insn = buckets[i]; insn != NULL; insn = insn->next) {
            if (insn->count != 0) {
                fprintf(file, "insn %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                        insn->address, insn->count, insn->count_last - insn->count_first,
                        insn->taken_last - insn->taken_first);
            }
        }
    }
    fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "mark=", 5) == 0) {
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
