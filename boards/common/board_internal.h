/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the start-up code, not by applications. */
#ifndef CORTEXM_BOARD_INTERNAL_H
#define CORTEXM_BOARD_INTERNAL_H

#include "cortexm_board.h"

/* A function of assembly alone: without the guard of -fstack-protector-all, which needs a stack. */
#if defined __has_attribute
#if __has_attribute(no_stack_protector)
#define BOARD_NAKED __attribute__((naked, noinline, used, no_stack_protector))
#endif
#endif
#ifndef BOARD_NAKED
#define BOARD_NAKED __attribute__((naked, noinline, used))
#endif

/* Paints the stack and starts the clock. */
void board_measure_init(void);

/* Starts what board_ticks() reads. */
void board_clock_init(void);
void board_systick_handler(void);

#endif
