/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loop of the kernels here, in one variant for each instruction set: dot_<isa>.c.
 * sum of (in[i] + in_offset) * (weight[i] + weight_offset), modulo 2^32; offsets in [-128, 128].
 */
#ifndef CORTEXM_EXECUTORCH_DOT_H
#define CORTEXM_EXECUTORCH_DOT_H

#include <stdint.h>

int32_t cortexm_et_dot(const int8_t *in, int32_t in_offset, const int8_t *weight,
                       int32_t weight_offset, int32_t n);

#endif
