/* SPDX-License-Identifier: Apache-2.0 */
/* A model served over a console: what the host sends and gets. See cortexm_tools/run/console/lines.py. */
#ifndef RUNNER_CONSOLE_H
#define RUNNER_CONSOLE_H

#include "cortexm/model.h"

/* What there is around the console. */
typedef struct {
    const cortexm_model_t *model;
    int (*get)(void);         /* the next byte; waits */
    void (*put)(char byte);
    const uint32_t *layers;   /* cycles of each layer in the last run; NULL if they are not measured */
    size_t layer_count;
    const uint32_t *cycles;   /* of the last run; 0: not known */
    uint32_t clock_hz;        /* of that counter */
    const char *counter;      /* its name, one word */
} runner_console_t;

/* Answers lines for ever. */
void runner_console(const runner_console_t *console);

#endif
