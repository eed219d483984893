/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h with the products of a word and a half. */
#ifndef CORTEXM_RECURRENT_CELLS_DSP_H
#define CORTEXM_RECURRENT_CELLS_DSP_H

#if !defined(__ARM_FEATURE_DSP)
#error "dsp kernels need the DSP extension"
#endif

#include <stdint.h>

static inline int32_t cortexm_scaled(int32_t a, int32_t m)
{
    int32_t result;

    __asm__("smulwb %0, %1, %2" : "=r"(result) : "r"(a), "r"(m));
    return result;
}

/* value + ((word + (its lower half) * f) >> 16) * f */
static inline int32_t cortexm_parabola_dsp(int32_t value, uint32_t word, int32_t f)
{
    int32_t result;

    __asm__("smlabb %0, %1, %2, %1\n\t"
            "smlatb %0, %0, %2, %3"
            : "=&r"(result)
            : "r"(word), "r"(f), "r"(value));
    return result;
}

#define CORTEXM_SCALED(a, m) cortexm_scaled(a, m)
#define CORTEXM_PARABOLA(value, word, f) cortexm_parabola_dsp(value, word, f)
#define CORTEXM_SATURATED(x, n)                                                                    \
    __extension__({                                                                                \
        int32_t saturated;                                                                         \
        __asm__("ssat %0, %1, %2" : "=r"(saturated) : "I"(n), "r"(x));                             \
        saturated;                                                                                 \
    })

#include "recurrent/cells/cells.h"

#endif
