/* SPDX-License-Identifier: Apache-2.0 */
/* Sums: of runs of codes, and of floats, term by term. There the order is part of a layer's
 * definition; four sums that share one operand are computed together, each in its order. Products are
 * added with one rounding. */
#ifndef CORTEXM_COMMON_ACCUMULATE_H
#define CORTEXM_COMMON_ACCUMULATE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/round.h"
#include "common/stamp.h"

/* A function that calls do not share out among copies: the stack of each is checked by its name. */
#if defined __clang__
#define CORTEXM_NOT_CLONED
#else
#define CORTEXM_NOT_CLONED __attribute__((noclone))
#endif

/* sum of a[0..n) */
static inline int32_t cortexm_sum_s8(const int8_t *a, int32_t n)
{
    const int8_t *const end = a + n;
    int32_t sum = 0;

    for (; end - a >= 4; a += 4) {
        sum += a[0] + a[1] + a[2] + a[3];
    }
    while (a != end) {
        sum += *a++;
    }
    return sum;
}

#if CORTEXM_VFMA

/* sum + x * y, rounded once */
static inline float cortexm_fma(float sum, float x, float y)
{
    __asm__("vfma.f32 %0, %1, %2" : "+t"(sum) : "t"(x), "t"(y));
    return sum;
}

#elif CORTEXM_SOFT_FMA

/* value / 2^n, the last bit set if any was lost */
static inline uint64_t cortexm_shift_right_odd(uint64_t value, int32_t n)
{
    const uint32_t high = (uint32_t)(value >> 32);
    const uint32_t low = (uint32_t)value;

    if (n == 0) {
        return value;
    }
    if (n < 32) {
        return (uint64_t)(high >> n) << 32 | low >> n | high << (32 - n) | (low << (32 - n) != 0);
    }
    if (n == 32) {
        return high | (low != 0);
    }
    return n < 64 ? high >> (n - 32) | ((high << (64 - n) | low) != 0) : (value != 0);
}

/* The significand of a subnormal float other than zero, and its exponent. */
CORTEXM_SHARED uint32_t cortexm_significand(uint32_t fraction, int32_t *exponent)
{
    for (*exponent = 1; fraction < UINT32_C(0x800000); --*exponent) {
        fraction <<= 1;
    }
    return fraction;
}

/*
 * sum + x * y, rounded once. The product of two significands of 24 bits has 48; it and the third one lie
 * at the upper end of 63 bits, the smaller one shifted to the right by the difference of the exponents.
 * Bits leave the register only where the difference is so large that the sum loses at most one bit at
 * its upper end: the last bit then stands for all of them.
 */
CORTEXM_SHARED float cortexm_fma(float sum, float x, float y)
{
    const uint32_t sign_bit = UINT32_C(0x80000000);
    uint32_t a, b, c;
    int32_t a_exponent, b_exponent, exponent, apart, shift;
    uint64_t product, value;
    uint32_t sign, rest;

    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    memcpy(&c, &sum, sizeof c);
    a_exponent = a >> 23 & 255;
    b_exponent = b >> 23 & 255;
    exponent = c >> 23 & 255;
    sign = (a ^ b) & sign_bit;
    if (exponent == 255 && a_exponent != 255 && b_exponent != 255) {
        return sum;
    }
    a = (a & UINT32_C(0x7fffff)) | UINT32_C(0x800000);
    b = (b & UINT32_C(0x7fffff)) | UINT32_C(0x800000);
    if ((uint32_t)a_exponent - 1 >= 254 || (uint32_t)b_exponent - 1 >= 254) {
        if (a_exponent == 255 || b_exponent == 255) {
            return x * y + sum; /* infinite, or no number */
        }
        if ((a_exponent == 0 && a << 9 == 0) || (b_exponent == 0 && b << 9 == 0)) {
            return c << 1 == 0 && c != sign ? 0.0f : sum;
        }
        if (a_exponent == 0) {
            a = cortexm_significand(a & UINT32_C(0x7fffff), &a_exponent);
        }
        if (b_exponent == 0) {
            b = cortexm_significand(b & UINT32_C(0x7fffff), &b_exponent);
        }
    }
    product = (uint64_t)a * b << 14;
    rest = c << 6 & UINT32_C(0x1fffffff);
    if (exponent == 0) {
        exponent = 1;
    } else {
        rest |= UINT32_C(0x20000000);
    }
    value = (uint64_t)rest << 32;
    apart = a_exponent + b_exponent - 126 - exponent;
    if (apart >= 0) {
        value = cortexm_shift_right_odd(value, apart);
        exponent += apart;
    } else {
        product = cortexm_shift_right_odd(product, -apart);
    }
    if (((c ^ sign) & sign_bit) == 0) {
        value += product;
    } else {
        value = product - value;
        if (value >> 63 != 0) {
            value = 0 - value;
            sign ^= sign_bit;
        }
        if (value == 0) {
            return 0.0f;
        }
    }
    /* The first bit to place 62; the float's exponent is then one more. */
    rest = (uint32_t)(value >> 32);
    shift = rest != 0 ? __builtin_clz(rest) - 1 : __builtin_clz((uint32_t)value) + 31;
    value <<= shift;
    exponent -= shift;
    if (exponent < 0) { /* subnormal */
        value = cortexm_shift_right_odd(value, -exponent);
        exponent = 0;
    }
    /* 24 bits of the upper half; ties go to even. */
    rest = (uint32_t)(value >> 32);
    c = rest >> 7;
    rest = rest << 25 | ((uint32_t)value != 0);
    c += rest > sign_bit || (rest == sign_bit && (c & 1) != 0);
    c = exponent >= 254 ? UINT32_C(0x7f800000) : c + ((uint32_t)exponent << 23);
    c |= sign;
    memcpy(&sum, &c, sizeof sum);
    return sum;
}

#else

/* sum + x * y, rounded once */
static inline float cortexm_fma(float sum, float x, float y)
{
    return fmaf(x, y, sum);
}

#endif

/* sum + a[0] * b[0] + a[a_step] * b[b_step] + ..., n products, from left to right */
static inline float cortexm_accumulate(float sum, const float *a, int32_t a_step, const float *b,
                                       int32_t b_step, int32_t n)
{
    for (; n > 0; --n) {
        sum = cortexm_fma(sum, *a, *b);
        a += a_step;
        b += b_step;
    }
    return sum;
}

/* How to walk an operand: from one term to the next, and what to add at the end of a row of terms and
 * of a plane of rows. */
typedef struct {
    int32_t step, row_gap, plane_gap;
} cortexm_walk_t;

/* The terms of four sums: the walks over the operand that they share and over those that lie `apart`,
 * and their extents. */
typedef struct {
    cortexm_walk_t shared, own;
    int32_t apart;
    int32_t planes, rows, columns;
} cortexm_terms_t;

#if CORTEXM_FPU

/* With an FPU, for terms that lie side by side in y: VLDM loads neighbours, and VFMA adds a product. Sums take turns, so that none
 * waits for its own last term. */
#define CORTEXM_ONE(i, m, n)                   \
    "vfma.f32 %[a], s" #m ", %[p" #i "]\n\t" \
    "vfma.f32 %[b], s" #n ", %[p" #i "]\n\t"
#define CORTEXM_BOTH(i, m, n)                  \
    CORTEXM_ONE(i, m, n)                       \
    "vfma.f32 %[c], s" #m ", %[q" #i "]\n\t" \
    "vfma.f32 %[d], s" #n ", %[q" #i "]\n\t"
#define CORTEXM_LOAD(m, n) "vldmia %[y]!, {" m "}\n\tvldmia %[z]!, {" n "}\n\t"
#define CORTEXM_TERMS1(WHICH) CORTEXM_LOAD("s4", "s8") WHICH(0, 4, 8)
#define CORTEXM_TERMS3(WHICH) \
    CORTEXM_LOAD("s4-s6", "s8-s10") WHICH(0, 4, 8) WHICH(1, 5, 9) WHICH(2, 6, 10)
#define CORTEXM_TERMS4(WHICH) \
    CORTEXM_LOAD("s4-s7", "s8-s11") \
    WHICH(0, 4, 8) WHICH(1, 5, 9) WHICH(2, 6, 10) WHICH(3, 7, 11)
#define CORTEXM_X1(p) [p##0] "t"(p##0)
#define CORTEXM_X3(p) CORTEXM_X1(p), [p##1] "t"(p##1), [p##2] "t"(p##2)
#define CORTEXM_X4(p) CORTEXM_X3(p), [p##3] "t"(p##3)
#define CORTEXM_TAKE1(p, x, step) const float p##0 = (x)[0]
#define CORTEXM_TAKE3(p, x, step) \
    CORTEXM_TAKE1(p, x, step), p##1 = (x)[step], p##2 = (x)[2 * (step)]
#define CORTEXM_TAKE4(p, x, step) CORTEXM_TAKE3(p, x, step), p##3 = (x)[3 * (step)]
#define CORTEXM_LOADED "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "memory"

/* The next n terms of sums i and j, of which w and v have the weights: p, */
#define CORTEXM_ADD(n, i, j, w, v)                                         \
    __asm__(CORTEXM_TERMS##n(CORTEXM_ONE)                                  \
            : [a] "+t"(sum##i), [b] "+t"(sum##j), [y] "+r"(w), [z] "+r"(v) \
            : CORTEXM_X##n(p)                                              \
            : CORTEXM_LOADED)

/* and q, where they are sums k and l. */
#define CORTEXM_ADD_BOTH(n, i, j, k, l, w, v)                                         \
    __asm__(CORTEXM_TERMS##n(CORTEXM_BOTH)                                            \
            : [a] "+t"(sum##i), [b] "+t"(sum##j), [c] "+t"(sum##k), [d] "+t"(sum##l), \
              [y] "+r"(w), [z] "+r"(v)                                                \
            : CORTEXM_X##n(p), CORTEXM_X##n(q)                                        \
            : CORTEXM_LOADED)

/* The next n terms of all four sums, or of all eight. */
#define CORTEXM_NEXT(n, step)             \
    {                                     \
        CORTEXM_TAKE##n(p, x, step);      \
                                          \
        CORTEXM_ADD(n, 0, 1, y, y1);      \
        CORTEXM_ADD(n, 2, 3, y2, y3);     \
        x += (n) * (step);                \
    }
#define CORTEXM_NEXT_BOTH(n, step)              \
    {                                           \
        CORTEXM_TAKE##n(p, x, step);            \
        CORTEXM_TAKE##n(q, x2, step);           \
                                                \
        CORTEXM_ADD_BOTH(n, 0, 1, 4, 5, y, y1); \
        CORTEXM_ADD_BOTH(n, 2, 3, 6, 7, y2, y3); \
        x += (n) * (step);                      \
        x2 += (n) * (step);                     \
    }

/* cortexm_accumulate4 for them. */
static CORTEXM_APART CORTEXM_NOT_CLONED void cortexm_accumulate4_dense(float sum[4],
                                                                       const cortexm_terms_t *terms,
                                                                       const float *x,
                                                                       const float *y)
{
    const int32_t step = terms->shared.step;
    const int32_t columns = terms->columns;
    const int32_t row_gap = terms->own.row_gap;
    const float *y1 = y + terms->apart;
    const float *y2 = y1 + terms->apart;
    const float *y3 = y2 + terms->apart;
    register float sum0 __asm__("s16") = sum[0];
    register float sum1 __asm__("s17") = sum[1];
    register float sum2 __asm__("s18") = sum[2];
    register float sum3 __asm__("s19") = sum[3];

    for (int32_t plane = terms->planes; plane > 0; --plane) {
        for (int32_t row = terms->rows; row > 0; --row) {
            int32_t left = columns;

            for (; left >= 4; left -= 4) {
                CORTEXM_NEXT(4, step)
            }
            if (left == 3) {
                CORTEXM_NEXT(3, step)
                left = 0;
            }
            for (; left > 0; --left) {
                CORTEXM_NEXT(1, step)
            }
            x += terms->shared.row_gap;
            if (row_gap != 0) {
                y += row_gap;
                y1 += row_gap;
                y2 += row_gap;
                y3 += row_gap;
            }
        }
        x += terms->shared.plane_gap;
        y += terms->own.plane_gap;
        y1 += terms->own.plane_gap;
        y2 += terms->own.plane_gap;
        y3 += terms->own.plane_gap;
    }
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}

/* Of eight sums: the four at x, and after them those at x2 = x + beside. Without their registers some
 * compilers keep them in memory. */
#define CORTEXM_EIGHT                                       \
    const float *x2 = x + beside;                           \
    register float sum0 __asm__("s16") = sum[0];            \
    register float sum1 __asm__("s17") = sum[1];            \
    register float sum2 __asm__("s18") = sum[2];            \
    register float sum3 __asm__("s19") = sum[3];            \
    register float sum4 __asm__("s20") = sum[4];            \
    register float sum5 __asm__("s21") = sum[5];            \
    register float sum6 __asm__("s22") = sum[6];            \
    register float sum7 __asm__("s23") = sum[7];
#define CORTEXM_WEIGHTS                      \
    const float *y1 = y + terms->apart;      \
    const float *y2 = y1 + terms->apart;     \
    const float *y3 = y2 + terms->apart;
#define CORTEXM_STORE_EIGHT                  \
    sum[0] = sum0;                           \
    sum[1] = sum1;                           \
    sum[2] = sum2;                           \
    sum[3] = sum3;                           \
    sum[4] = sum4;                           \
    sum[5] = sum5;                           \
    sum[6] = sum6;                           \
    sum[7] = sum7;

/* A single row of terms. */
static CORTEXM_APART void cortexm_accumulate8_row(float sum[8], const cortexm_terms_t *terms,
                                                  const float *x, int32_t beside, const float *y)
{
    const int32_t step = terms->shared.step;
    int32_t left = terms->columns;
    CORTEXM_WEIGHTS
    CORTEXM_EIGHT

    if (step == 1) {
        for (; left >= 4; left -= 4) {
            CORTEXM_NEXT_BOTH(4, 1)
        }
    }
    for (; left >= 4; left -= 4) {
        CORTEXM_NEXT_BOTH(4, step)
    }
    for (; left > 0; --left) {
        CORTEXM_NEXT_BOTH(1, step)
    }
    CORTEXM_STORE_EIGHT
}

/* Rows of three terms, which follow each other in y. */
static CORTEXM_APART void cortexm_accumulate8_threes(float sum[8], const cortexm_terms_t *terms,
                                                     const float *x, int32_t beside,
                                                     const float *y)
{
    const int32_t step = terms->shared.step;
    const int32_t row_gap = terms->shared.row_gap;
    CORTEXM_WEIGHTS
    CORTEXM_EIGHT

    for (int32_t plane = terms->planes; plane > 0; --plane) {
        for (int32_t row = terms->rows; row > 0; --row) {
            if (step == 1) {
                CORTEXM_NEXT_BOTH(3, 1)
            } else {
                CORTEXM_NEXT_BOTH(3, step)
            }
            x += row_gap;
            x2 += row_gap;
        }
        x += terms->shared.plane_gap;
        x2 += terms->shared.plane_gap;
        y += terms->own.plane_gap;
        y1 += terms->own.plane_gap;
        y2 += terms->own.plane_gap;
        y3 += terms->own.plane_gap;
    }
    CORTEXM_STORE_EIGHT
}

/* Any terms. */
static CORTEXM_APART void cortexm_accumulate8_dense(float sum[8], const cortexm_terms_t *terms,
                                                    const float *x, int32_t beside, const float *y)
{
    const int32_t step = terms->shared.step;
    const int32_t columns = terms->columns;
    const int32_t row_gap = terms->own.row_gap;
    CORTEXM_WEIGHTS
    CORTEXM_EIGHT

    for (int32_t plane = terms->planes; plane > 0; --plane) {
        for (int32_t row = terms->rows; row > 0; --row) {
            int32_t left = columns;

            for (; left >= 4; left -= 4) {
                CORTEXM_NEXT_BOTH(4, step)
            }
            for (; left > 0; --left) {
                CORTEXM_NEXT_BOTH(1, step)
            }
            x += terms->shared.row_gap;
            x2 += terms->shared.row_gap;
            y += row_gap;
            y1 += row_gap;
            y2 += row_gap;
            y3 += row_gap;
        }
        x += terms->shared.plane_gap;
        x2 += terms->shared.plane_gap;
        y += terms->own.plane_gap;
        y1 += terms->own.plane_gap;
        y2 += terms->own.plane_gap;
        y3 += terms->own.plane_gap;
    }
    CORTEXM_STORE_EIGHT
}

/* One term of eight sums, whose weights are four neighbours; y goes on by as many bytes as `ahead`. */
#define CORTEXM_TERM_BESIDE(p, q)                                                            \
    __asm__("vldmia %[y], {s4-s7}\n\tadd %[y], %[ahead]\n\t"                                \
            "vfma.f32 %[a], s4, %[p0]\n\tvfma.f32 %[b], s5, %[p0]\n\t"                      \
            "vfma.f32 %[c], s6, %[p0]\n\tvfma.f32 %[d], s7, %[p0]\n\t"                      \
            "vfma.f32 %[e], s4, %[q0]\n\tvfma.f32 %[f], s5, %[q0]\n\t"                      \
            "vfma.f32 %[g], s6, %[q0]\n\tvfma.f32 %[h], s7, %[q0]"                           \
            : [a] "+t"(sum0), [b] "+t"(sum1), [c] "+t"(sum2), [d] "+t"(sum3), [e] "+t"(sum4), \
              [f] "+t"(sum5), [g] "+t"(sum6), [h] "+t"(sum7), [y] "+r"(y)                    \
            : [p0] "t"(p), [q0] "t"(q), [ahead] "r"(ahead)                                   \
            : "s4", "s5", "s6", "s7", "memory")

/* cortexm_accumulate8 for a single row of terms, of which the four sums have neighbours: apart is 1. */
static CORTEXM_APART void cortexm_accumulate8_beside(float sum[8], const cortexm_terms_t *terms,
                                                     const float *x, int32_t beside,
                                                     const float *y)
{
    const int32_t step = terms->shared.step;
    const int32_t ahead = terms->own.step * (int32_t)sizeof *y;
    int32_t left = terms->columns;
    CORTEXM_EIGHT

    for (; left >= 2; left -= 2) {
        const float p0 = x[0], p1 = x[step], q0 = x2[0], q1 = x2[step];

        CORTEXM_TERM_BESIDE(p0, q0);
        CORTEXM_TERM_BESIDE(p1, q1);
        x += 2 * step;
        x2 += 2 * step;
    }
    if (left > 0) {
        CORTEXM_TERM_BESIDE(*x, *x2);
    }
    CORTEXM_STORE_EIGHT
}

#endif

/* sum[i] += the products of x's terms with those of y + i * apart, for four sums. */
static CORTEXM_APART void cortexm_accumulate4(float sum[4], const cortexm_terms_t *terms,
                                              const float *x, const float *y)
{
    const int32_t x_step = terms->shared.step;
    const int32_t y_step = terms->own.step;
    const float *y1 = y + terms->apart;
    const float *y2 = y1 + terms->apart;
    const float *y3 = y2 + terms->apart;
    float sum0 = sum[0];
    float sum1 = sum[1];
    float sum2 = sum[2];
    float sum3 = sum[3];

#if CORTEXM_FPU
    if (y_step == 1) {
        cortexm_accumulate4_dense(sum, terms, x, y);
        return;
    }
#endif
    for (int32_t plane = terms->planes; plane > 0; --plane) {
        for (int32_t row = terms->rows; row > 0; --row) {
            for (int32_t column = terms->columns; column > 0; --column) {
                const float value = *x;

                sum0 = cortexm_fma(sum0, value, *y);
                sum1 = cortexm_fma(sum1, value, *y1);
                sum2 = cortexm_fma(sum2, value, *y2);
                sum3 = cortexm_fma(sum3, value, *y3);
                x += x_step;
                y += y_step;
                y1 += y_step;
                y2 += y_step;
                y3 += y_step;
            }
            x += terms->shared.row_gap;
            y += terms->own.row_gap;
            y1 += terms->own.row_gap;
            y2 += terms->own.row_gap;
            y3 += terms->own.row_gap;
        }
        x += terms->shared.plane_gap;
        y += terms->own.plane_gap;
        y1 += terms->own.plane_gap;
        y2 += terms->own.plane_gap;
        y3 += terms->own.plane_gap;
    }
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}

/* The four sums at x, and after them those at x + beside, whose terms are a single row. */
static inline void cortexm_accumulate8_single(float sum[8], const cortexm_terms_t *terms,
                                              const float *x, int32_t beside, const float *y)
{
#if CORTEXM_FPU
    if (terms->own.step == 1) {
        cortexm_accumulate8_row(sum, terms, x, beside, y);
        return;
    }
    if (terms->apart == 1) {
        cortexm_accumulate8_beside(sum, terms, x, beside, y);
        return;
    }
#endif
    cortexm_accumulate4(sum, terms, x, y);
    cortexm_accumulate4(sum + 4, terms, x + beside, y);
}

/* The same for any terms. */
static inline void cortexm_accumulate8(float sum[8], const cortexm_terms_t *terms, const float *x,
                                       int32_t beside, const float *y)
{
#if CORTEXM_FPU
    if (terms->own.step == 1 && (terms->planes > 1 || terms->rows != 1)) {
        if (terms->columns == 3 && terms->own.row_gap == 0) {
            cortexm_accumulate8_threes(sum, terms, x, beside, y);
        } else {
            cortexm_accumulate8_dense(sum, terms, x, beside, y);
        }
        return;
    }
    if (terms->own.step == 1) {
        cortexm_accumulate8_row(sum, terms, x, beside, y);
        return;
    }
#endif
    cortexm_accumulate4(sum, terms, x, y);
    cortexm_accumulate4(sum + 4, terms, x + beside, y);
}

#endif
