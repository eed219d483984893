/* SPDX-License-Identifier: Apache-2.0 */
/* Random floats and images of them, and how close results must be. */
#ifndef CORTEXM_TESTS_FLOATS_H
#define CORTEXM_TESTS_FLOATS_H

#include <stdint.h>

#include "harness.h"

/* In [-4, 4), often a multiple of 1/2, where rounding has ties. */
float real(void);
float *reals(int32_t count);

/* Some of them zeros of either sign, infinite, or no numbers. */
float *any_reals(int32_t count);

/* As reals(), or of all magnitudes: also subnormal, which vectors of MVE take for zero, infinite, or no
 * number. */
float *terms(int32_t count);

/* A positive float over many magnitudes; unless `normal`, at times infinite or subnormal, which the
 * case `normal_scale` of plan/kernels/conditions/elements.py leaves out. */
float scale(int normal);

outputs_t float_outputs(int32_t count);

/* How close floats must be to their reference, which is computed in double. */
typedef enum {
    EXACT, /* the same bits, or both no number */
    EQUAL, /* the same value: a zero may have the other sign */
    CLOSE  /* as functions of the C library, with a few roundings before and after them */
} closeness_t;

/* As finish(): the first output is a variant's and the second its reference's. */
int finish_floats(const outputs_t *o, closeness_t closeness);

/* Strides (batch, channel, row, column) of an image in NCHW or NHWC; returns its elements. */
int32_t image(int32_t strides[4], int32_t n, int32_t c, int32_t h, int32_t w);

#endif
