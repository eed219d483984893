/* SPDX-License-Identifier: Apache-2.0 */
/* What the MVE kernels share: the requantization of numerics.md on four lanes, and the end of a layer. */
#ifndef CORTEXM_COMMON_MVE_H
#define CORTEXM_COMMON_MVE_H

/*
 * The assembly takes every register that there is, and GCC at -O0 keeps some for itself ("'asm' operand
 * has impossible constraints"). The library is optimized whatever the project is; this is for sources that
 * others build, as exports are.
 */
#if defined __GNUC__ && !defined __clang__ && !defined __OPTIMIZE__
#pragma GCC optimize("O1")
#elif defined CORTEXM_FOR_SIZE && defined __GNUC__ && !defined __clang__
/* Kernels whose loops are all in assembly define this before; the rest is then better small. */
#pragma GCC optimize("Os")
#endif

#include <arm_mve.h>
#include <stdint.h>
#include <string.h>

#include "cortexm/requantize.h"

/* Where LDM or LDR to the PC jumps to: with branch target identification that is BTI. By its number, as it is a
 * hint which every core executes and not every assembler knows. */
#if defined __ARM_FEATURE_BTI_DEFAULT
#define CORTEXM_LANDING ".inst.w     0xf3af800f\n\t"
#define CORTEXM_LANDING_BYTES 4u
#else
#define CORTEXM_LANDING ""
#define CORTEXM_LANDING_BYTES 0u
#endif

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

/* The vector `best` becomes x where that is larger, or smaller, or a NaN; a NaN in `best` stays. "lt" holds for
 * NaNs, as it is what "ge" is not. Comparisons take subnormal numbers for zero. */
#define CORTEXM_TAKE_LARGER(best, x) CORTEXM_TAKE_WHERE(best, x, best, x)
#define CORTEXM_TAKE_SMALLER(best, x) CORTEXM_TAKE_WHERE(best, x, x, best)
#define CORTEXM_TAKE_WHERE(best, x, less, more)                                                    \
    "vptt.f32  eq, %q[" best "], %q[" best "]\n\t"                                                 \
    "vcmpt.f32 lt, %q[" less "], %q[" more "]\n\t"                                                 \
    "vorrt     %q[" best "], %q[" x "], %q[" x "]\n\t"

/*
 * `quotient` becomes x, which is lost, divided by a positive integer d below CORTEXM_QUOTIENT_LIMIT, rounded once:
 * `divisor` and `inverse` are registers of d and -1 / d. q, the product of x with 1 / d, is less than two units of
 * its last place off, so that the rest, q * d - x, has less than 2 d of these units, and is exact. With the rest
 * times 1 / d, q is off by less than 2^-23 units before it is rounded, while x / d is at least 1 / 2d of one from
 * halfway between two floats: there it cannot be, as such a number times d is no float. All is negative, so that
 * zeros keep their signs. Of infinity there is no rest, and the product stays.
 */
#define CORTEXM_QUOTIENT_LIMIT (1 << 22)
#define CORTEXM_QUOTIENT(x, quotient, divisor, inverse)                                            \
    "vneg.f32  %q[" x "], %q[" x "]\n\t"                                                           \
    "vmul.f32  %q[" quotient "], %q[" x "], %[" inverse "]\n\t"                                    \
    "vfma.f32  %q[" x "], %q[" quotient "], %[" divisor "]\n\t"                                    \
    "vpt.f32   eq, %q[" x "], %q[" x "]\n\t"                                                       \
    "vfmat.f32 %q[" quotient "], %q[" x "], %[" inverse "]\n\t"

/* The bits of a float, for a register of the core. */
static inline int32_t cortexm_bits(float value)
{
    int32_t result;

    memcpy(&result, &value, sizeof result);
    return result;
}

/* Short copies, fills and sums: loops that take the last vector's remainder by themselves, which GCC 12
 * does not generate. */

static inline void cortexm_copy_mve(int8_t *to, const int8_t *from, int32_t size)
{
    int8x16_t t;

    __asm__ volatile("wlstp.8   lr, %[size], 2f\n"
                     "1:\n\t"
                     "vldrb.u8  %q[t], [%[from]], #16\n\t"
                     "vstrb.8   %q[t], [%[to]], #16\n\t"
                     "letp      lr, 1b\n"
                     "2:\n\t"
                     : [t] "=&w"(t), [from] "+r"(from), [to] "+r"(to)
                     : [size] "r"(size)
                     : "lr", "memory");
}

static inline void cortexm_fill_mve(int8_t *to, int8_t value, int32_t size)
{
    const int8x16_t t = vdupq_n_s8(value);

    __asm__ volatile("wlstp.8   lr, %[size], 2f\n"
                     "1:\n\t"
                     "vstrb.8   %q[t], [%[to]], #16\n\t"
                     "letp      lr, 1b\n"
                     "2:\n\t"
                     : [to] "+r"(to)
                     : [t] "w"(t), [size] "r"(size)
                     : "lr", "memory");
}

/* sum of a[0..size) */
static inline int32_t cortexm_sum_mve(const int8_t *a, int32_t size)
{
    int32_t sum = 0;
    int8x16_t t;

    __asm__ volatile("wlstp.8   lr, %[size], 2f\n"
                     "1:\n\t"
                     "vldrb.u8  %q[t], [%[a]], #16\n\t"
                     "vaddva.s8 %[sum], %q[t]\n\t"
                     "letp      lr, 1b\n"
                     "2:\n\t"
                     : [t] "=&w"(t), [a] "+r"(a), [sum] "+Te"(sum)
                     : [size] "r"(size)
                     : "lr", "memory");
    return sum;
}

/* y becomes what a table of int16 gives for eight codes z, as activation has it; t, u and z are lost. The last bits
 * of a code plus 2^15 are its part of an entry, in Q15: with a difference of entries that has 16 bits, VQRDMULH
 * rounds as the formula does. */
#define CORTEXM_INTERPOLATE                                                                        \
    "veor          %q[z], %q[z], %q[highest]\n\t"                                                  \
    "vshl.u16      %q[t], %q[z], %q[up]\n\t"                                                       \
    "vshl.u16      %q[z], %[down]\n\t"                                                             \
    "vshr.u16      %q[t], %q[t], #1\n\t"                                                           \
    "vldrh.u16     %q[y], [%[table], %q[z], uxtw #1]\n\t"                                          \
    "vldrh.u16     %q[u], [%[others], %q[z], uxtw #1]\n\t"                                         \
    "vsub.i16      %q[u], %q[u], %q[y]\n\t"                                                        \
    "vqrdmulh.s16  %q[u], %q[u], %q[t]\n\t"                                                        \
    "vadd.i16      %q[y], %q[y], %q[u]\n\t"
#define CORTEXM_INTERPOLATES(entries, bits)                                                        \
    [table] "r"(entries), [others] "r"((entries) + 1), [highest] "w"(vdupq_n_u16(0x8000)),         \
        [up] "w"(vdupq_n_s16((int16_t)(16 - (bits)))), [down] "r"(-(bits))

#endif
