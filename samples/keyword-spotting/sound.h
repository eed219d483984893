/* SPDX-License-Identifier: Apache-2.0 */
/* Where the sound comes from: one of sound_*.c, which the build chooses. */
#ifndef SOUND_H
#define SOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOUND_KHZ 16 /* samples in a millisecond, of one channel */

/* Writes the next `count` samples, waiting for them if need be. False where there are not as many any
 * more; what went wrong, if anything did, is printed. */
bool sound_read(int16_t *samples, size_t count);

#endif
