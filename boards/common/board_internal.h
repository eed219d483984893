/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the start-up code, not by applications. */
#ifndef CORTEXM_BOARD_INTERNAL_H
#define CORTEXM_BOARD_INTERNAL_H

#include "cortexm_board.h"

/* Paints the stack and starts SysTick. */
void board_measure_init(void);
void board_systick_handler(void);

#endif
