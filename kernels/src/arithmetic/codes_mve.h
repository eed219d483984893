/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of codes, and operands that are repeated for longer runs, MVE. */
#ifndef CORTEXM_ARITHMETIC_CODES_MVE_H
#define CORTEXM_ARITHMETIC_CODES_MVE_H

/* Elements of a vector of 32-bit lanes are four codes; of a vector of codes as they are, LANES. */
#if CODE_BITS == 8
#define LANES 16
#define LOAD(vector, pointer) "vldrb.s32     %q[" vector "], [%[" pointer "]], #4\n\t"
#define STORE "vstrb.32      %q[x], [%[out]], #4\n\t"
#define RAISE 20
#define WIDTH "8"
#define OF_WIDTH "b"
#define REPEATED(code) vdupq_n_s8(code)
/* What the assembly needs for zero points at the beginning and at the end. */
#define ADD_ZERO_POINT "vadd.i32      %q[x], %q[x], %q[zero]\n\t"
#define ZERO_POINTS(a, b, out) , [a_zero] "r"(a), [b_zero] "r"(b), [zero] "w"(out)
#define ZERO_POINT(p, of) ((p)->of##_zero_point)
#define ROW_STRIDE(p) 0
#else
#define LANES 8
#define LOAD(vector, pointer) "vldrh.s32     %q[" vector "], [%[" pointer "]], #8\n\t"
#define STORE "vstrh.32      %q[x], [%[out]], #8\n\t"
#define RAISE 15
#define WIDTH "16"
#define OF_WIDTH "h"
#define REPEATED(code) vdupq_n_s16(code)
#define ADD_ZERO_POINT
#define ZERO_POINTS(a, b, out) , [a_zero] "r"(0), [b_zero] "r"(0)
#define ZERO_POINT(p, of) 0
#define ROW_STRIDE(p) ((p)->stride)
#endif

/* Operands that repeat with their periods (box.h), for loops that read both as vectors. */

/* Room for an operand that is repeated. */
#define REPEAT (4 * LANES)

/* Writes `period` elements again and again to `to`, of REPEAT elements. How many that are. */
static __attribute__((noinline)) int32_t repeat(ELEMENT *to, const ELEMENT *from, int32_t period)
{
    const int32_t all = REPEAT / period * period;
    const int32_t size = (int32_t)sizeof *to;
    int32_t done = 0;

    for (int32_t count = period; count > 0; count = cortexm_min(done, all - done)) {
        cortexm_copy_mve((int8_t *)(to + done), (const int8_t *)from, count * size);
        done += count;
        from = to;
    }
    return all;
}

/* The shorter operand is repeated if that makes longer runs. */
static inline void lengthen(const ELEMENT **a, int32_t *a_period, const ELEMENT **b, int32_t *b_period, ELEMENT *room)
{
    if (*a_period < *b_period && *a_period <= REPEAT / 2) {
        *a_period = repeat(room, *a, *a_period);
        *a = room;
    } else if (*b_period < *a_period && *b_period <= REPEAT / 2) {
        *b_period = repeat(room, *b, *b_period);
        *b = room;
    }
}

#endif
