/* SPDX-License-Identifier: Apache-2.0 */
/* How products of codes become codes, DSP. With t = high_mul(v, m), less 1 where v is negative, a code
 * is (t + start) >> n for the shift -n and start = (2 * zero_point + 1) * 2^(n-1), which SMMLAR adds
 * with the product of 2v. Where v < 0 and t = 0, -1 in its place gives the same code: start is an odd
 * multiple of 2^(n-1). */
#ifndef CORTEXM_ARITHMETIC_CODES_DSP_H
#define CORTEXM_ARITHMETIC_CODES_DSP_H

#include "common/box.h"
#include "common/dsp.h"
#include "common/round.h"
#include "common/stamp.h"
#include "common/wide_dsp.h"
#include "cortexm/kernels.h"

#if CODE_BITS == 8
#define WIDTH "8"
#define OF_WIDTH "b"
#define STEP "#1"
#define ZERO_POINT(p, of) ((p)->of##_zero_point)
#define ROW_STRIDE(p) 0
#else
#define WIDTH "16"
#define OF_WIDTH "h"
#define STEP "#2"
#define ZERO_POINT(p, of) 0
#define ROW_STRIDE(p) ((p)->stride)
#endif

/* How the product of a result begins. For n <= 22 nothing overflows; of int16, without a zero point, for
 * any n. */
static inline int32_t start_of(int32_t zero_point, int32_t n)
{
    return cortexm_shift_left(2 * zero_point + 1, n - 1);
}

#define MAX_SHIFT (CODE_BITS == 8 ? 22 : 31)

#endif
