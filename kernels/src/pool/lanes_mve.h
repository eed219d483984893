/* SPDX-License-Identifier: Apache-2.0 */
/* avg_pool2d of int8 or int16 with MVE, four codes at a time, in windows of less than 4080 pixels, or
 * 256; of int8 in windows of less than 256 pixels eight codes at a time (eights; pixel, of a single
 * window), whose sums fit in 16 bits; and max_pool2d, 16 codes at a time, or 8. Of at least as many
 * channels (LANES) a block of codes has those of one pixel; where channels are no multiple of LANES the
 * first two blocks have some in common. Of fewer channels (few) a block has several pixels. Of few
 * channels and windows inside the image (rows) the rows of a row of windows become one, in scratch, from
 * which the blocks are made: their codes lie side by side, whatever the pixels are. All blocks are alike
 * there: the last one ends with the row. */
#ifndef CORTEXM_POOL_LANES_MVE_H
#define CORTEXM_POOL_LANES_MVE_H

#include "common/mve.h" /* first, for its pragma */

#if defined CORTEXM_IS_avg_pool2d || defined CORTEXM_IS_avg_pool2d_c3
#define POOL avg_pool2d
#elif defined CORTEXM_IS_avg_pool2d_eights || defined CORTEXM_IS_avg_pool2d_rows || defined CORTEXM_IS_avg_pool2d_pixel
#define POOL avg_pool2d_eights
#else
#define POOL max_pool2d
#endif
#if defined CORTEXM_IS_avg_pool2d_rows || defined CORTEXM_IS_max_pool2d_rows
#define IS_ROWS 1
#else
#define IS_ROWS 0
#endif
#if defined CORTEXM_IS_avg_pool2d_c3 || defined CORTEXM_IS_max_pool2d_c15
#define IS_FEW 1
#else
#define IS_FEW IS_ROWS
#endif

/* A vector of codes, and four of them in 32-bit lanes; and their gathered loads and scattered stores. */
#if CODE_BITS == 8
#define CODES int8x16_t
#define REPEATED(code) vdupq_n_s8(code)
#define LOAD "vldrb.u8   %q[t], [%[x]]\n\t"
#define LOAD_FOUR "vldrb.s32  %q[t], [%[x]]\n\t"
#define STORE(out, value) vstrbq_s8(out, value)
#define STORE_FOUR(out, value) vstrbq_s32(out, value)
#define LANES_max_pool2d 16
#define GATHER_max_pool2d "vldrb.u8  %q[t], [%[x], %q[from]]\n\t"
#define SCATTER_max_pool2d "vstrbt.8   %q[value], [%[out], %q[to]]\n\t"
#define GATHER_avg_pool2d "vldrb.s32 %q[t], [%[x], %q[from]]\n\t"
#define SCATTER_avg_pool2d "vstrbt.32  %q[value], [%[out], %q[to]]\n\t"
#define ADD_max_pool2d "vmax.s8    %q[value], %q[value], %q[t]\n\t"
#define WIDTH_max_pool2d "8"
#define OFFSET_max_pool2d uint8_t
#define OFFSETS_max_pool2d uint8x16_t
#define LANE_NUMBERS_max_pool2d vidupq_n_u8(0, 1)
#define ALL_LANES_max_pool2d vdupq_n_u8
#else
#define CODES int16x8_t
#define REPEATED(code) vdupq_n_s16(code)
#define LOAD "vldrh.u16  %q[t], [%[x]]\n\t"
#define LOAD_FOUR "vldrh.s32  %q[t], [%[x]]\n\t"
#define STORE(out, value) vstrhq_s16(out, value)
#define STORE_FOUR(out, value) vstrhq_s32(out, value)
#define LANES_max_pool2d 8
#define GATHER_max_pool2d "vldrh.u16 %q[t], [%[x], %q[from], uxtw #1]\n\t"
#define SCATTER_max_pool2d "vstrht.16  %q[value], [%[out], %q[to], uxtw #1]\n\t"
#define GATHER_avg_pool2d "vldrh.s32 %q[t], [%[x], %q[from], uxtw #1]\n\t"
#define SCATTER_avg_pool2d "vstrht.32  %q[value], [%[out], %q[to], uxtw #1]\n\t"
#define ADD_max_pool2d "vmax.s16   %q[value], %q[value], %q[t]\n\t"
#define WIDTH_max_pool2d "16"
#define OFFSET_max_pool2d uint16_t
#define OFFSETS_max_pool2d uint16x8_t
#define LANE_NUMBERS_max_pool2d vidupq_n_u16(0, 1)
#define ALL_LANES_max_pool2d vdupq_n_u16
#endif

/*
 * sum / count, ties away from zero: floor((|sum| + count / 2) / count) with the sign of the sum.
 *
 * With m = ceil(2^31 / d) = (2^31 + e) / d, e < d, floor(n / d) is floor(2n * m / 2^32) as long as
 * n * e < 2^31. Here n <= 128 d + d / 2, so it is for all d < 4080; of int16 n <= 32768 d + d / 2, so for
 * all d < 256.
 */
static inline int32x4_t result_avg_pool2d(int32x4_t sum, int32_t count, int32x4_t most)
{
    const uint32_t d = (uint32_t)count;
    const uint32x4_t m = vdupq_n_u32((UINT32_C(0x80000000) + d - 1) / d);
    const uint32x4_t n = vaddq_n_u32(vreinterpretq_u32_s32(vabsq_s32(sum)), d / 2);
    const int32x4_t mean = vreinterpretq_s32_u32(vmulhq_u32(vaddq_u32(n, n), m));
    const int32x4_t sign = vshrq_n_s32(sum, 31);

    (void)most;
    return vsubq_s32(veorq_s32(mean, sign), sign);
}

#if CODE_BITS == 8

/*
 * The same in 16 bits: with d <= 2^s and m = ceil(2^(15 + s) / d), which fits in 16, floor(n / d) is
 * floor(n * m / 2^(15 + s)) as long as n * e < 2^(15 + s). n * e < (128 d + d / 2) * d, so it is for all
 * d < 256.
 */
static inline int16x8_t result_avg_pool2d_eights(int16x8_t sum, int32_t count, int16x8_t most)
{
    const uint32_t d = (uint32_t)count;
    const int32_t s = 31 - __builtin_clz(2 * d - 1);
    const uint16x8_t m = vdupq_n_u16((uint16_t)(((UINT32_C(0x8000) << s) + d - 1) / d));
    const uint16x8_t n = vaddq_n_u16(vreinterpretq_u16_s16(vabsq_s16(sum)), (uint16_t)(d / 2));
    const int16x8_t mean = vreinterpretq_s16_u16(vshlq_r_u16(vmulhq_u16(vaddq_u16(n, n), m), -s));
    const int16x8_t sign = vshrq_n_s16(sum, 15);

    (void)most;
    return vsubq_s16(veorq_s16(mean, sign), sign);
}

#endif

static inline CODES result_max_pool2d(CODES value, int32_t count, CODES most)
{
    (void)count;
    return vminq(value, most);
}

/* Codes of a block and their vector, the vector before the first pixel, what no result exceeds, the
 * pixel that x points to, and how the result is stored; where the lanes of a gathered block are. */
#define LANES_avg_pool2d 4
#define VECTOR_avg_pool2d int32x4_t
#define LEAST_avg_pool2d(p) vdupq_n_s32(0)
#define MOST_avg_pool2d LEAST_avg_pool2d
#define TAKE_avg_pool2d LOAD_FOUR
#define STORE_avg_pool2d(out, value) STORE_FOUR(out, value)
#define ADD_avg_pool2d "vadd.i32   %q[value], %q[value], %q[t]\n\t"
#define WIDTH_avg_pool2d "32"
#define OFFSET_avg_pool2d uint32_t
#define OFFSETS_avg_pool2d uint32x4_t
#define LANE_NUMBERS_avg_pool2d vidupq_n_u32(0, 1)
#define ALL_LANES_avg_pool2d vdupq_n_u32

#define LANES_avg_pool2d_eights 8
#define VECTOR_avg_pool2d_eights int16x8_t
#define LEAST_avg_pool2d_eights(p) vdupq_n_s16(0)
#define MOST_avg_pool2d_eights LEAST_avg_pool2d_eights
#define TAKE_avg_pool2d_eights "vldrb.s16  %q[t], [%[x]]\n\t"
#define STORE_avg_pool2d_eights(out, value) vstrbq_s16(out, value)
#define GATHER_avg_pool2d_eights "vldrh.u16 %q[t], [%[x], %q[from], uxtw #1]\n\t"
#define SCATTER_avg_pool2d_eights "vstrbt.16  %q[value], [%[out], %q[to]]\n\t"
#define ADD_avg_pool2d_eights "vadd.i16   %q[value], %q[value], %q[t]\n\t"
#define WIDTH_avg_pool2d_eights "16"
#define OFFSET_avg_pool2d_eights uint16_t
#define OFFSETS_avg_pool2d_eights uint16x8_t
#define LANE_NUMBERS_avg_pool2d_eights vidupq_n_u16(0, 1)
#define ALL_LANES_avg_pool2d_eights vdupq_n_u16

#define VECTOR_max_pool2d CODES
#define LEAST_max_pool2d(p) REPEATED((p)->act_min)
#define MOST_max_pool2d(p) REPEATED((p)->act_max)
#define TAKE_max_pool2d LOAD
#define STORE_max_pool2d(out, value) STORE(out, value)

#define LANES CORTEXM_JOIN(LANES_, POOL)
#define VECTOR CORTEXM_JOIN(VECTOR_, POOL)
#define POOL_LEAST CORTEXM_JOIN(LEAST_, POOL)
#define POOL_MOST CORTEXM_JOIN(MOST_, POOL)
#define POOL_TAKE CORTEXM_JOIN(TAKE_, POOL)
#define POOL_RESULT CORTEXM_JOIN(result_, POOL)
#define POOL_STORE CORTEXM_JOIN(STORE_, POOL)
#define POOL_WIDTH CORTEXM_JOIN(WIDTH_, POOL)
#define POOL_GATHER CORTEXM_JOIN(GATHER_, POOL)
#define POOL_SCATTER CORTEXM_JOIN(SCATTER_, POOL)
#define POOL_ADD CORTEXM_JOIN(ADD_, POOL)
#define OFFSET CORTEXM_JOIN(OFFSET_, POOL)
#define OFFSETS CORTEXM_JOIN(OFFSETS_, POOL)
#define LANE_NUMBERS CORTEXM_JOIN(LANE_NUMBERS_, POOL)
#define ALL_LANES CORTEXM_JOIN(ALL_LANES_, POOL)

#endif
