/* SPDX-License-Identifier: Apache-2.0 */
/* Sound from words.wav in the folder in which the emulator runs, by semihosting. */
#include <stdio.h>
#include <string.h>

#include "sound.h"

#ifdef __ZEPHYR__
#include <zephyr/arch/common/semihost.h>

#define board_file_open(name, mode) ((int)semihost_open(name, mode))
#define board_file_read(file, bytes, size) ((size_t)semihost_read(file, bytes, (long)(size)))
#define BOARD_FILE_READ SEMIHOST_OPEN_RB
#else
#include "cortexm_board.h"
#endif

#define NAME "words.wav"

static uint32_t number(const uint8_t *bytes, size_t size)
{
    uint32_t value = 0;

    while (size-- > 0) {
        value = value << 8 | bytes[size];
    }
    return value;
}

/* Opens the file and reads until its samples begin; -1 if they are not 16 bits, mono, 16 kHz. */
static int open_samples(void)
{
    const int file = board_file_open(NAME, BOARD_FILE_READ);
    uint8_t head[12], format[16];
    bool known = false;

    if (file < 0 || board_file_read(file, head, 12) != 12 || memcmp(head, "RIFF", 4) != 0 ||
        memcmp(head + 8, "WAVE", 4) != 0) {
        printf(NAME ": no such file, or no WAV\n");
        return -1;
    }
    while (board_file_read(file, head, 8) == 8) {
        uint32_t size = number(head + 4, 4);

        if (memcmp(head, "data", 4) == 0 && known) {
            return file;
        }
        if (memcmp(head, "fmt ", 4) == 0 && size >= 16 && board_file_read(file, format, 16) == 16) {
            size -= 16;
            known = number(format, 2) == 1 && number(format + 2, 2) == 1 &&
                    number(format + 4, 4) == SOUND_KHZ * 1000 && number(format + 14, 2) == 16;
        }
        for (size += size & 1; size > 0; size--) { /* chunks begin at even places */
            if (board_file_read(file, head, 1) != 1) {
                break;
            }
        }
    }
    printf(NAME ": not 16 bits, mono, %d kHz\n", SOUND_KHZ);
    return -1;
}

bool sound_read(int16_t *samples, size_t count)
{
    static int file = -2; /* not opened */

    if (file == -2) {
        file = open_samples();
    }
    return file >= 0 &&
           board_file_read(file, samples, count * sizeof *samples) == count * sizeof *samples;
}
