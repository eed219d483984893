/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounding of floats, and the only file of the kernels that asks what it is compiled for: whether there
 * is an FPU is no matter of an instruction set, as one core is sold with and without it. The plan does
 * not know; the compiler does, from the project's options. Results do not depend on it.
 */
#ifndef CORTEXM_COMMON_ROUND_H
#define CORTEXM_COMMON_ROUND_H

#include <stdint.h>
#include <string.h>

#include "cortexm/requantize.h"

/* Every rounded result beyond +-2^22 becomes +-2^22: further out than any code from a zero point. */
#define CORTEXM_ROUND_LIMIT (INT32_C(1) << 22)

/* 1 where float arithmetic is calls of library functions, which kernels avoid. */
#if defined(__SOFTFP__)
#define CORTEXM_SOFT_FLOAT 1
#else
#define CORTEXM_SOFT_FLOAT 0
#endif

/* 1 where VFMA is at hand, as in every FPU of a Cortex-M; and where products must be added with integers:
 * a C library's fmaf may round twice, as newlib's does, unless the compiler knows of an instruction. */
#if defined(__ARM_FEATURE_FMA) && defined(__thumb2__)
#define CORTEXM_VFMA 1
#else
#define CORTEXM_VFMA 0
#endif
#if CORTEXM_VFMA || defined(__FP_FAST_FMAF)
#define CORTEXM_SOFT_FMA 0
#else
#define CORTEXM_SOFT_FMA 1
#endif

#if defined(__ARM_FP) && (__ARM_FP & 4) != 0 && defined(__thumb2__)

/* 1 where VFMA and VLDM of single precision are at hand, and worth 2 KB of code. */
#if defined(__OPTIMIZE_SIZE__)
#define CORTEXM_FPU 0
#else
#define CORTEXM_FPU 1
#endif

/* The integer nearest to x, ties to even, limited to +-2^22 and there only exact to 1; 0 for a NaN.
 * VCVTR rounds as the product before it was rounded, saturates, and takes a NaN for 0. */
static inline int32_t cortexm_round_half_even(float x)
{
    float converted; /* the bits of an integer */
    int32_t rounded;

    __asm__("vcvtr.s32.f32 %0, %1" : "=t"(converted) : "t"(x));
    __asm__("ssat %0, #23, %1" : "=r"(rounded) : "r"(converted));
    return rounded;
}

/* The same of x[0] * scale and x[1] * scale; returns x + 2. */
static inline const float *cortexm_round_two(const float *x, float scale, int32_t *first, int32_t *second)
{
    __asm__("vldr      s14, [%[x]]\n\t" /* fewer cycles than both at once on some cores */
            "vldr      s15, [%[x], #4]\n\t"
            "vmul.f32  s14, s14, %[scale]\n\t"
            "vmul.f32  s15, s15, %[scale]\n\t"
            "vcvtr.s32.f32 s14, s14\n\t"
            "vcvtr.s32.f32 s15, s15\n\t"
            "vmov      %[first], %[second], s14, s15\n\t"
            "ssat      %[first], #23, %[first]\n\t"
            "ssat      %[second], #23, %[second]"
            : [first] "=r"(*first), [second] "=r"(*second)
            : [x] "r"(x), [scale] "t"(scale), "m"(x[0]), "m"(x[1])
            : "s14", "s15");
    return x + 2;
}

/* value, limited to int8 */
static inline int32_t cortexm_saturate_s8(int32_t value)
{
    int32_t code;

    __asm__("ssat %0, #8, %1" : "=r"(code) : "r"(value));
    return code;
}

#else

#define CORTEXM_FPU 0

/* The integer nearest to x, ties to even, limited to +-2^22; 0 for a NaN.
 *
 * Works on the bits of the float (sign, 8 bits of exponent e, 23 of mantissa f; the value is
 * (2^23 + f) * 2^(e - 150)), so cores with and without an FPU agree and a core without one calls no
 * library function. Ties go to even by adding half minus one, plus the integer's last bit. */
static inline int32_t cortexm_round_half_even(float x)
{
    uint32_t bits;
    uint32_t magnitude;
    uint32_t mantissa;
    uint32_t drop;
    uint32_t rounded;

    memcpy(&bits, &x, sizeof bits);
    magnitude = bits & UINT32_C(0x7fffffff);
    if (magnitude <= UINT32_C(0x3f000000) || magnitude > UINT32_C(0x7f800000)) {
        return 0; /* up to 0.5, or NaN */
    }
    if (magnitude >= UINT32_C(0x4a800000)) {
        rounded = (uint32_t)CORTEXM_ROUND_LIMIT;
    } else {
        drop = 150u - (magnitude >> 23); /* bits of fraction, 2 to 24 */
        mantissa = (magnitude & UINT32_C(0x7fffff)) | UINT32_C(0x800000);
        rounded = (mantissa + (UINT32_C(1) << (drop - 1)) - 1u + ((mantissa >> drop) & 1u)) >> drop;
    }
    return (bits >> 31) != 0u ? -(int32_t)rounded : (int32_t)rounded;
}

static inline const float *cortexm_round_two(const float *x, float scale, int32_t *first, int32_t *second)
{
    *first = cortexm_round_half_even(x[0] * scale);
    *second = cortexm_round_half_even(x[1] * scale);
    return x + 2;
}

static inline int32_t cortexm_saturate_s8(int32_t value)
{
    return cortexm_clamp(value, INT8_MIN, INT8_MAX);
}

#endif

static inline uint32_t cortexm_float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
