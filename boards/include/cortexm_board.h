/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bare-metal start-up code of an emulated board offers besides the C library's stdio:
 * console, exit, host files (all by Arm semihosting), and measurement.
 */
#ifndef CORTEXM_BOARD_H
#define CORTEXM_BOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints a NUL-terminated string on the host's console. */
void board_write(const char *text);

/* Ends the emulator with `code` as its exit status. Does not return. */
void board_exit(int code) __attribute__((noreturn));

/* Prints "error: " text and a newline, and exits with status 1. */
void board_fail(const char *text) __attribute__((noreturn));

/* Host files, relative to the emulator's working directory. */
typedef enum { BOARD_FILE_READ = 1, BOARD_FILE_WRITE = 5 } board_file_mode_t; /* "rb", "wb" */
int board_file_open(const char *path, board_file_mode_t mode); /* handle, or -1 */
size_t board_file_read(int file, void *data, size_t size);        /* bytes read */
size_t board_file_write(int file, const void *data, size_t size); /* bytes written */
void board_file_close(int file);

/* Ticks of the processor clock (SysTick) since reset. Under `-icount shift=0` QEMU executes one
 * instruction per nanosecond of virtual time, so a tick of a 25 MHz board is 40 instructions. */
uint64_t board_ticks(void);

/* On silicon (cortexm run --probe): called before main(), after .data and .bss are there. The default
 * does nothing; --setup compiles one that sets up clocks, wait states and caches. */
void board_setup(void);

/* What one call cost. */
typedef struct {
    uint64_t count;           /* instructions, under `-icount shift=0`, +-8; on silicon cycles */
    size_t stack_bytes;       /* deepest use of the stack below the caller */
    int result;               /* what the call returned */
} board_measurement_t;

/* Calls run(context) and measures it: instructions by the clock, stack by painting it before. */
board_measurement_t board_measure(int (*run)(void *context), void *context);

/* Bytes of stack in use at the deepest point since reset, and all there are. */
size_t board_stack_high_water(void);
size_t board_stack_size(void);

/* The memory behind .bss that nothing uses, aligned to 16 bytes; malloc() takes it from the other
 * end of the same block, from the first byte up. */
void *board_spare_ram(size_t *size);

#ifdef __cplusplus
}
#endif

#endif
