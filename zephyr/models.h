/* SPDX-License-Identifier: Apache-2.0 */
/* The models of an image, for the shell. The build writes the table from the calls of cortexm_add_model(). */
#ifndef CORTEXM_MODELS_H
#define CORTEXM_MODELS_H

#include "cortexm/model.h"

struct cortexm_entry {
    const cortexm_model_t *model;
    const cortexm_sample_t *samples; /* NULL: none */
    size_t sample_count;
};

extern const struct cortexm_entry cortexm_entries[];
extern const size_t cortexm_entry_count;

#endif
