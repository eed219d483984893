/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Console, exit and host files by Arm semihosting (Arm document "Semihosting for AArch32 and
 * AArch64"), and the handful of system calls that newlib's stdio needs. newlib's own rdimon library
 * does the same in several kilobytes and opens files before main(); this does not.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cortexm_board.h"

enum {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE0 = 0x04,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_EXIT_EXTENDED = 0x20,
    ADP_STOPPED_APPLICATION_EXIT = 0x20026
};

static int semihost(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;

    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (int)r0;
}

void board_write(const char *text)
{
    (void)semihost(SYS_WRITE0, text);
}

void board_exit(int code)
{
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)code};

    for (;;) {
        (void)semihost(SYS_EXIT_EXTENDED, block);
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
    const char *end = path;

    while (*end != '\0') { /* no strlen(), which newlib makes long and fast */
        end++;
    }
    const uintptr_t block[3] = {(uintptr_t)path, (uintptr_t)mode, (uintptr_t)(end - path)};
    return semihost(SYS_OPEN, block);
}

/* SYS_READ and SYS_WRITE return how many bytes they did NOT move. */
__attribute__((noinline)) static size_t transfer(int file, uintptr_t data, size_t size, uint32_t operation)
{
    const uintptr_t block[3] = {(uintptr_t)file, data, size};
    const size_t left = (size_t)semihost(operation, block);

    return left <= size ? size - left : 0U;
}

size_t board_file_read(int file, void *data, size_t size)
{
    return transfer(file, (uintptr_t)data, size, SYS_READ);
}

size_t board_file_write(int file, const void *data, size_t size)
{
    return transfer(file, (uintptr_t)data, size, SYS_WRITE);
}

void board_file_close(int file)
{
    const uintptr_t block[1] = {(uintptr_t)file};

    (void)semihost(SYS_CLOSE, block);
}

/* newlib's system calls. The names are newlib's. */
int _write(int file, const char *data, int size);
int _read(int file, char *data, int size);
int _close(int file);
int _fstat(int file, struct stat *status);
int _isatty(int file);
int _lseek(int file, int offset, int whence);
int _getpid(void);
int _kill(int pid, int signal);
void _exit(int code);
void *_sbrk(ptrdiff_t increment);

int _write(int file, const char *data, int size)
{
    char piece[65];
    int done = 0;

    (void)file;
    while (done < size) {
        size_t n = (size_t)(size - done);
        n = n < sizeof piece - 1U ? n : sizeof piece - 1U;
        memcpy(piece, data + done, n);
        piece[n] = '\0';
        board_write(piece);
        done += (int)n;
    }
    return size;
}

int _read(int file, char *data, int size)
{
    (void)file;
    (void)data;
    (void)size;
    return 0;
}

int _close(int file)
{
    (void)file;
    return -1;
}

int _fstat(int file, struct stat *status)
{
    (void)file;
    status->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file)
{
    (void)file;
    return 1;
}

int _lseek(int file, int offset, int whence)
{
    (void)file;
    (void)offset;
    (void)whence;
    return 0;
}

int _getpid(void)
{
    return 1;
}

int _kill(int pid, int signal)
{
    (void)pid;
    board_exit(128 + signal);
}

void _exit(int code)
{
    board_exit(code);
}

extern uint8_t __heap_start[], __heap_end[];
static uint8_t *heap = __heap_start;

void *_sbrk(ptrdiff_t increment)
{
    uint8_t *const block = heap;

    if (increment > __heap_end - heap) {
        errno = ENOMEM;
        return (void *)-1;
    }
    heap += increment;
    return block;
}

void *board_spare_ram(size_t *size)
{
    /* 2 KB stay with malloc(): stdio takes its buffers there. */
    const uintptr_t start = ((uintptr_t)__heap_start + 2048U + 15U) & ~(uintptr_t)15U;
    const uintptr_t end = (uintptr_t)__heap_end;

    *size = end > start ? (size_t)(end - start) : 0U;
    return (void *)start;
}
