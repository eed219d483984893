/* SPDX-License-Identifier: Apache-2.0 */
/* What both DSP kernels of softmax of int8 codes repeat. */
#ifndef CORTEXM_ACTIVATION_SOFTMAX_DSP_H
#define CORTEXM_ACTIVATION_SOFTMAX_DSP_H

#include "common/stamp.h"
#include "cortexm/kernels.h"

/* softmax, int8. */

/*
 * exp and 1/x in fixed point. The algorithm and the formats are gemmlowp's (Jacob et al., 2018), as
 * TFLM and CMSIS-NN use them; each constant is derived next to it.
 *
 * Qn is an integer that counts units of 2^-n.
 */

/* Exponentials are Q31; their sum is Q19, which leaves 12 bits for the number of terms. */
#define CORTEXM_SUM_SHIFT 12

/* A sum of up to 2^13 - 1 exponentials in Q19 fits into 32 bits. */
#define MAX_SIZE 8191

/* The larger codes of r7 and x. */
#define LARGER(x)                                                                                  \
    "ssub8  r12, r7, " x "\n"                                                                      \
    "sel    r7, r7, " x "\n"

/* A step of cortexm_one_over() in softmax_reciprocal.h for y, with 2 * d in r7 and 2^30 in `one`. SMMLAR takes a number from 2^31 on for
 * a signed one, with which the product is y too small. */
#define ITERATE(y, one)                                                                            \
    "smmlar r12, " y ", r7, " y "\n"                                                               \
    "sub    r12, " one ", r12, lsl #1\n"                                                           \
    "smmulr r12, " y ", r12\n"                                                                     \
    "add    " y ", " y ", r12, lsl #2\n"

/* From y = -32/17 times 2 * d less 2^32, as which 2 * d is a signed number: the fraction in y, and twice that in r7,
 * which with fractions of 31 bits is 2^32 - 2 at most. */
#define FRACTION_FROM(y, one)                                                                      \
    "add    " y ", " y ", #0x1e1e1e1e\n" /* 16/17 in Q29 */                                        \
    ITERATE(y, one) ITERATE(y, one) ITERATE(y, one)                                                \
    "qadd   " y ", " y ", " y "\n"                                                                 \
    "lsl    r7, " y ", #1\n"

#endif
