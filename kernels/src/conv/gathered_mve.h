/* SPDX-License-Identifier: Apache-2.0 */
/* What conv2d_gathered and conv2d_direct share, MVE. */
#ifndef CORTEXM_CONV_GATHERED_MVE_H
#define CORTEXM_CONV_GATHERED_MVE_H

#include "common/stamp.h"

#define CORTEXM_FOR_SIZE
#include "common/mve.h"
#include "cortexm/kernels.h"

/*
 * One output of eight neighbouring pixels at a time, for few channels of a group or few outputs: no product is made
 * with a zero between groups, and no output is left of a block. The image is copied to scratch, padding included,
 * the channels of a group side by side; from there one load gathers sixteen inputs of a window, whatever its form.
 * Weights are rows of [row][column][input], filled up with zeros to sixteens ("sixteens",
 * plan/kernels/packing_mve.py); each row of a window is where that takes no more of them, as its inputs are near.
 *
 * conv2d_direct gathers nothing: a row of a window is in one piece in the copy, if its columns are side by side. So
 * it is read from there, for each output again, with weights of zero for what lies behind the row
 * ("row_sixteens"). That is best for one or two outputs of a group.
 */
/* The assembly is longer than what C promises to take for a string. */
#pragma GCC diagnostic ignored "-Woverlength-strings"
#define LANES 16
#define PIXELS 8

/* An output. The assembly knows the places of the members, of these as of those below. */
typedef struct {
    int32_t bias, multiplier, shift;
} output_t;

/* What comes behind a strip of eight pixels. */
typedef struct {
    const output_t *output; /* the first one, … */
    const int8_t *weight;   /* … and its weights */
    int32_t beside;         /* from a strip's windows behind the last group to the next strip's, … */
    int32_t out_beside;     /* … and from behind its first pixel to the next strip's results */
    int32_t pixels, rows;   /* that are left, this strip and row included */
    int32_t below;          /* from behind a row's strips to the next row's, … */
    int32_t out_below;      /* … and the same of results */
    int32_t width;          /* pixels of a row */
} next_t;

/* What is known of the outputs, four at a time. */
static inline void keep(output_t *of, const PARAMS *p, const int32_t *bias)
{
    const int32_t *multiplier = p->multiplier;
    const int8_t *shift = p->shift;
    uint32x4_t at = vmulq_n_u32(vidupq_n_u32(0, 4), sizeof *of / 4);
    int32x4_t t;

    __asm__ volatile("wlstp.32   lr, %[count], 2f\n"
                     "1:\n\t"
                     "vldrw.u32  %q[t], [%[bias]], #16\n\t"
                     "vstrw.32   %q[t], [%[of], %q[at]]\n\t"
                     "vldrw.u32  %q[t], [%[multiplier]], #16\n\t"
                     "vstrw.32   %q[t], [%[multipliers], %q[at]]\n\t"
                     "vldrb.s32  %q[t], [%[shift]], #4\n\t"
                     "vstrw.32   %q[t], [%[shifts], %q[at]]\n\t"
                     "vadd.i32   %q[at], %q[at], %[four]\n\t"
                     "letp       lr, 1b\n"
                     "2:\n\t"
                     : [t] "=&w"(t), [at] "+&w"(at), [bias] "+r"(bias), [multiplier] "+r"(multiplier),
                       [shift] "+l"(shift)
                     : [of] "r"(of), [multipliers] "r"(&of->multiplier), [shifts] "r"(&of->shift),
                       [count] "r"(p->out_c), [four] "r"(4 * sizeof *of)
                     : "lr", "memory");
}

/* Copies the rows of the image that lie in the copy, which has padding elsewhere. */
static CORTEXM_APART void take(const PARAMS *p, const int8_t *in, int8_t *copy, int32_t rows, int32_t row)
{
    const int32_t channels = p->in_c / p->groups;
    const int32_t top = cortexm_max(-p->in_y0, 0);
    const int32_t left = cortexm_max(-p->in_x0, 0);
    const int32_t high = cortexm_min(rows, p->in_h - p->in_y0);
    const int32_t wide = cortexm_min(row, (p->in_w - p->in_x0) * channels) - left * channels; /* bytes */

    if (wide <= 0) {
        return;
    }
    in += (p->in_y0 + top) * p->in_row_stride + (p->in_x0 + left) * p->in_c;
    copy += top * row + left * channels;
    if (p->groups == 1) {
        for (int32_t y = top; y < high; ++y) {
            cortexm_copy_mve(copy, in, wide);
            in += p->in_row_stride;
            copy += row;
        }
        return;
    }
    /* Sixteen bytes of a group at a time, in whole pixels as far as bytes have their places: what is behind them the
     * next vector stores again, and the last one does not have. */
    const int32_t some = cortexm_min(LANES / channels, (256 - channels) / p->in_c + 1);
    const int32_t whole = some * channels;
    const int32_t bytes = wide + (wide - 1) / whole * (LANES - whole);

    const uint8x16_t byte = vidupq_n_u8(0, 1);
    /* Whole pixels before each: exact, as there are so few. */
    const uint8x16_t before =
        channels == 1 ? byte : vmulhq_u8(byte, vdupq_n_u8((uint8_t)(256 / channels + 1)));
    const uint8x16_t at = vpselq_u8(vmlaq_n_u8(byte, before, (uint8_t)(p->in_c - channels)),
                                    vdupq_n_u8(0), vctp8q((uint32_t)whole));

    for (int32_t group = p->groups; group > 0 && top < high; --group) {
        const int8_t *from = in;
        int8_t *to = copy;
        int32_t more = high - top;
        const int8_t *x;
        int8_t *target;
        int8x16_t t;

        __asm__ volatile("1:\n\t"
                         "mov       %[x], %[from]\n\t"
                         "mov       %[target], %[to]\n\t"
                         "wlstp.8   lr, %[bytes], 3f\n"
                         "2:\n\t"
                         "vldrb.u8  %q[t], [%[x], %q[at]]\n\t"
                         "add       %[x], %[step]\n\t"
                         "vstrb.8   %q[t], [%[target]]\n\t"
                         "add       %[target], %[whole]\n\t"
                         "letp      lr, 2b\n"
                         "3:\n\t"
                         "add       %[from], %[in_row]\n\t"
                         "add       %[to], %[row]\n\t"
                         "subs      %[more], #1\n\t"
                         "bne       1b\n\t"
                         : [t] "=&w"(t), [x] "=&r"(x), [target] "=&l"(target), [from] "+&r"(from), [to] "+&r"(to),
                           [more] "+&r"(more)
                         : [at] "w"(at), [step] "r"(some * p->in_c), [whole] "r"(whole), [bytes] "r"(bytes),
                           [in_row] "r"(p->in_row_stride), [row] "r"(row)
                         : "lr", "cc", "memory");
        in += channels;
        copy += rows * row;
    }
}

/* The next strip, if there is one, or else to 9: `next` is the place of that in strip, and the others those of its
 * members that begin anew. */
#define NEXT(to, first, output, end, next)                                                         \
    "ldrd          r6, %[weight], [%[strip], #(" next ")]\n\t"                                     \
    "ldrd          r0, r2, [%[strip], #(" next " + 8)]\n\t"                                       \
    "ldrd          %[more], r8, [%[strip], #(" next " + 16)]\n\t"                                 \
    "ldr           r4, [%[strip], #" first "]\n\t"                                                \
    "str           r6, [%[strip], #" output "]\n\t"                                               \
    "str           r6, [%[strip], #" end "]\n\t"                                                  \
    "add           r4, r0\n\t"                                                                    \
    "add           " to ", r2\n\t"                                                                \
    "subs          %[more], #8\n\t"                                                              \
    "bgt           8f\n\t"                                                                        \
    "ldrd          r0, r2, [%[strip], #(" next " + 24)]\n\t"                                      \
    "ldr           %[more], [%[strip], #(" next " + 32)]\n\t"                                     \
    "add           r4, r0\n\t"                                                                    \
    "add           " to ", r2\n\t"                                                                \
    "subs          r8, #1\n\t"                                                                    \
    "str           r8, [%[strip], #(" next " + 20)]\n\t"                                          \
    "beq           9f\n"                                                                          \
    "8:\n\t"                                                                                       \
    "str           r4, [%[strip], #" first "]\n\t"                                                \
    "str           %[more], [%[strip], #(" next " + 16)]\n\t"

#endif
