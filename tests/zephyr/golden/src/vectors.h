/* SPDX-License-Identifier: Apache-2.0 */
/* Golden cases; vectors.py writes vectors.c. */
#ifndef VECTORS_H
#define VECTORS_H

#include "cortexm/model.h"

struct vector {
    const cortexm_model_t *model;
    const uint8_t *const *inputs; /* bytes in memory order, one array for each input */
    const uint8_t *const *outputs;
};

extern const struct vector vectors[];
extern const size_t vector_count;

#endif
