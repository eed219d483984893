/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Console, exit and files by a debugger, for chips: neither semihosting nor a serial port is needed,
 * only that a debugger can stop at an address and read and write memory. The debugger has a breakpoint
 * on board_stop(). There it reads `board_mailbox`, does what it says, puts the answer in its last
 * word, and has the core go on where board_stop() returns to. cortexm_tools/run/probe/session.py is
 * the other side.
 */
#include "board_internal.h"

enum { REQUEST_WRITE = 1, REQUEST_EXIT, REQUEST_OPEN, REQUEST_READ, REQUEST_STORE, REQUEST_CLOSE };

/* Request, two or three arguments, answer. */
extern volatile uint32_t board_mailbox[5];
volatile uint32_t board_mailbox[5];

void board_stop(void);

/* At board_spin the debugger lets the core wait, to find out how fast its counter counts. */
BOARD_NAKED void board_stop(void)
{
    __asm volatile(
        "nop\n"
        "nop\n"
        "bx lr\n"
        ".global board_spin\n"
        ".thumb_func\n"
        "board_spin:\n"
        "nop\n"
        "b board_spin\n");
}

static uint32_t request(uint32_t what, uintptr_t first, uintptr_t second, uintptr_t third)
{
    board_mailbox[0] = what;
    board_mailbox[1] = (uint32_t)first;
    board_mailbox[2] = (uint32_t)second;
    board_mailbox[3] = (uint32_t)third;
    board_mailbox[4] = 0U;
    __asm volatile("dsb" : : : "memory");
    board_stop();
    __asm volatile("dsb" : : : "memory");
    return board_mailbox[4];
}

static size_t length(const char *text)
{
    size_t size = 0;

    while (text[size] != '\0') {
        size++;
    }
    return size;
}

void board_write(const char *text)
{
    (void)request(REQUEST_WRITE, (uintptr_t)text, length(text), 0U);
}

void board_exit(int code)
{
    for (;;) {
        (void)request(REQUEST_EXIT, (uintptr_t)code, 0U, 0U);
    }
}

void board_fail(const char *text)
{
    board_write("error: ");
    board_write(text);
    board_write("\n");
    board_exit(1);
}

int board_file_open(const char *path, board_file_mode_t mode)
{
    return (int)request(REQUEST_OPEN, (uintptr_t)path, length(path), (uintptr_t)mode);
}

size_t board_file_read(int file, void *data, size_t size)
{
    return request(REQUEST_READ, (uintptr_t)file, (uintptr_t)data, size);
}

size_t board_file_write(int file, const void *data, size_t size)
{
    return request(REQUEST_STORE, (uintptr_t)file, (uintptr_t)data, size);
}

void board_file_close(int file)
{
    (void)request(REQUEST_CLOSE, (uintptr_t)file, 0U, 0U);
}

extern uint8_t __heap_start[], __heap_end[];

void *board_spare_ram(size_t *size)
{
    const uintptr_t start = (uintptr_t)__heap_start, end = (uintptr_t)__heap_end;

    *size = end > start ? (size_t)(end - start) : 0U;
    return __heap_start;
}
