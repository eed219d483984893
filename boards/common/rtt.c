/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Console, exit and files by SEGGER's Real Time Transfer (RTT): rings in RAM that a debugger reads and
 * writes, described by a block that begins with "SEGGER RTT" and whose symbol is _SEGGER_RTT. Neither
 * semihosting nor a serial port is needed. Channel 0 has the text, for any viewer; channel 1 has what
 * run/probe/session.py serves, in little-endian words:
 *
 *   up    request, argument, size, then `size` bytes     down
 *   1     open     mode            path                  the file's number, or -1
 *   2     read     file            a word: bytes wanted  a word: bytes that follow, then those
 *   3     store    file            the bytes             -
 *   4     close    file            -                     -
 *   5     exit     status          -                     -
 *
 * Whenever the image has to wait for the host, it calls board_stop(): a host that does not look at the
 * rings while the core runs has a breakpoint there.
 */
#include "board_internal.h"

enum { TEXT_BYTES = 128, FILES_BYTES = 512 }; /* of the rings; one of them stays free */
enum { REQUEST_OPEN = 1, REQUEST_READ, REQUEST_STORE, REQUEST_CLOSE, REQUEST_EXIT };
enum { BLOCK_IF_FULL = 2, TEXT = 0, FILES = 1, CHANNELS };

/* The layout of both is RTT's. A ring is empty where its offsets are equal; only its writer changes
 * `written`, only its reader `read`. */
typedef struct {
    const char *name;
    volatile uint8_t *bytes;
    uint32_t size;
    volatile uint32_t written;
    volatile uint32_t read;
    uint32_t flags;
} rtt_ring_t;

typedef struct {
    volatile char id[16];
    uint32_t up_count;
    uint32_t down_count;
    rtt_ring_t up[CHANNELS];
    rtt_ring_t down[CHANNELS];
} rtt_block_t;

extern rtt_block_t _SEGGER_RTT;
rtt_block_t _SEGGER_RTT;
static volatile uint8_t text_up[TEXT_BYTES], text_down[16];
static volatile uint8_t files_up[FILES_BYTES], files_down[FILES_BYTES];

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

static inline void barrier(void)
{
    __asm volatile("dsb" : : : "memory");
}

static rtt_ring_t ring(const char *name, volatile uint8_t *bytes, uint32_t size)
{
    const rtt_ring_t made = {name, bytes, size, 0U, 0U, BLOCK_IF_FULL};

    return made;
}

/* The id comes last, as the rest is valid then, and not from a constant, of which hosts that search
 * memory for it would find a copy. */
static rtt_block_t *block(void)
{
    static const char id[] = "TTR REGGES";

    if (_SEGGER_RTT.up_count == 0U) {
        _SEGGER_RTT.up_count = _SEGGER_RTT.down_count = CHANNELS;
        _SEGGER_RTT.up[TEXT] = ring("Terminal", text_up, sizeof text_up);
        _SEGGER_RTT.down[TEXT] = ring("Terminal", text_down, sizeof text_down);
        _SEGGER_RTT.up[FILES] = ring("cortexm", files_up, sizeof files_up);
        _SEGGER_RTT.down[FILES] = ring("cortexm", files_down, sizeof files_down);
        barrier();
        for (size_t i = sizeof id - 1U; i-- > 0U;) {
            _SEGGER_RTT.id[sizeof id - 2U - i] = id[i];
        }
    }
    return &_SEGGER_RTT;
}

static uint32_t after(const rtt_ring_t *r, uint32_t at)
{
    return at + 1U == r->size ? 0U : at + 1U;
}

static void put(rtt_ring_t *r, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint32_t at = r->written;

    while (size-- > 0U) {
        const uint32_t next = after(r, at);

        if (next == r->read) {
            barrier();
            r->written = at;
            do {
                board_stop();
            } while (next == r->read);
        }
        r->bytes[at] = *bytes++;
        at = next;
    }
    barrier();
    r->written = at;
}

static void get(rtt_ring_t *r, void *data, size_t size)
{
    uint8_t *bytes = data;

    while (size-- > 0U) {
        const uint32_t at = r->read;

        while (at == r->written) {
            board_stop();
        }
        barrier();
        *bytes++ = r->bytes[at];
        r->read = after(r, at);
    }
}

static void request(uint32_t what, uint32_t argument, const void *data, size_t size)
{
    const uint32_t words[3] = {what, argument, (uint32_t)size};
    rtt_ring_t *const up = &block()->up[FILES];

    put(up, words, sizeof words);
    put(up, data, size);
}

static uint32_t answer(void)
{
    uint32_t word = 0U;

    get(&block()->down[FILES], &word, sizeof word);
    return word;
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
    put(&block()->up[TEXT], text, length(text));
}

void board_exit(int code)
{
    request(REQUEST_EXIT, (uint32_t)code, NULL, 0U);
    for (;;) {
        board_stop();
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
    request(REQUEST_OPEN, (uint32_t)mode, path, length(path));
    return (int)answer();
}

size_t board_file_read(int file, void *data, size_t size)
{
    const uint32_t wanted = (uint32_t)size;

    request(REQUEST_READ, (uint32_t)file, &wanted, sizeof wanted);
    const uint32_t found = answer();
    get(&block()->down[FILES], data, found <= wanted ? found : wanted);
    return found;
}

size_t board_file_write(int file, const void *data, size_t size)
{
    request(REQUEST_STORE, (uint32_t)file, data, size);
    return size;
}

void board_file_close(int file)
{
    request(REQUEST_CLOSE, (uint32_t)file, NULL, 0U);
}

extern uint8_t __heap_start[], __heap_end[];

void *board_spare_ram(size_t *size)
{
    const uintptr_t start = (uintptr_t)__heap_start, end = (uintptr_t)__heap_end;

    *size = end > start ? (size_t)(end - start) : 0U;
    return __heap_start;
}
