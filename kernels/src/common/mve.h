/* SPDX-License-Identifier: Apache-2.0 */
/* What the MVE kernels share: the requantization of numerics.md on four lanes, and the end of a layer. */
#ifndef CORTEXM_COMMON_MVE_H
#define CORTEXM_COMMON_MVE_H

#include <arm_mve.h>
#include <stdint.h>

#include "cortexm/requantize.h"

/* The last steps of a layer: clamp before the zero point is added, so that no sum can wrap. */
typedef struct {
    int32x4_t low, high, zero_point;
} cortexm_finish_t;

static inline cortexm_finish_t cortexm_finish_of(int32_t zero_point, int32_t low, int32_t high)
{
    cortexm_finish_t f = {vdupq_n_s32(low - zero_point), vdupq_n_s32(high - zero_point),
                          vdupq_n_s32(zero_point)};

    return f;
}

static inline int32x4_t cortexm_finish(int32x4_t value, cortexm_finish_t f)
{
    return vaddq_s32(vminq_s32(vmaxq_s32(value, f.low), f.high), f.zero_point);
}

/* cortexm_rounding_shift with n = -shift, per lane; shift < 0. VRSHL rounds ties up, so negative values
 * are lowered by one first. */
static inline int32x4_t cortexm_rounding_shift_mve(int32x4_t value, int32x4_t shift)
{
    return vrshlq_s32(vaddq_s32(value, vshrq_n_s32(value, 31)), shift);
}

/* cortexm_requantize per lane, for shifts that are all negative. */
static inline int32x4_t cortexm_requantize_right_mve(int32x4_t value, int32x4_t multiplier,
                                                     int32x4_t shift)
{
    return cortexm_rounding_shift_mve(vqrdmulhq_s32(value, multiplier), shift);
}

/* cortexm_requantize per lane. Lanes that shift to the left, or not at all, are not lowered. */
static inline int32x4_t cortexm_requantize_mve(int32x4_t value, int32x4_t multiplier,
                                               int32x4_t shift)
{
    const int32x4_t zero = vdupq_n_s32(0);

    value = vqrdmulhq_s32(vshlq_s32(value, vmaxq_s32(shift, zero)), multiplier);
    value = vaddq_s32(value, vshrq_n_s32(vandq_s32(value, shift), 31));
    return vrshlq_s32(value, vminq_s32(shift, zero));
}

/* The first `count` lanes, all four where it is larger, as bytes. Assembly, because GCC 12 moves the
 * predicate through a core register and back. */
static inline void cortexm_store_mve(int8_t *out, int32x4_t value, int32_t count)
{
    __asm__ volatile("vctp.32   %[count]\n\t"
                     "vpst\n\t"
                     "vstrbt.32 %q[value], [%[out]]\n\t"
                     :
                     : [count] "r"(count), [value] "w"(value), [out] "l"(out)
                     : "memory");
}

#endif
