/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of cortexm_board.h that the runner uses, on the machine that builds it. */
#include <stdio.h>
#include <stdlib.h>

#include "cortexm_board.h"

static FILE *files[2];

void board_write(const char *text)
{
    fputs(text, stdout);
}

void board_exit(int code)
{
    exit(code);
}

void board_fail(const char *text)
{
    printf("error: %s\n", text);
    exit(1);
}

int board_file_open(const char *path, board_file_mode_t mode)
{
    const int number = mode == BOARD_FILE_READ ? 0 : 1;

    files[number] = fopen(path, mode == BOARD_FILE_READ ? "rb" : "wb");
    return files[number] != NULL ? number : -1;
}

size_t board_file_read(int file, void *data, size_t size)
{
    return fread(data, 1, size, files[file]);
}

size_t board_file_write(int file, const void *data, size_t size)
{
    return fwrite(data, 1, size, files[file]);
}

void board_file_close(int file)
{
    if (fclose(files[file]) != 0) {
        board_fail("cannot write a file");
    }
}

board_measurement_t board_measure(int (*run)(void *context), void *context)
{
    const board_measurement_t measured = {0U, 0U, run(context)};

    return measured;
}

void *board_spare_ram(size_t *size)
{
    /* main() asks for each model, with the size it needs; the last one lives as long as the program. */
    static void *volatile arena; /* kept reachable, so that no leak is reported */

    free(arena);
    arena = aligned_alloc(16, (*size + 15U) & ~(size_t)15U);

    if (arena == NULL) {
        board_fail("out of memory");
    }
    return arena;
}
