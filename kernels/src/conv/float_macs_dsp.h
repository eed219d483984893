/* SPDX-License-Identifier: Apache-2.0 */
/* Products of floats with the FPU, in assembly, DSP. */
#ifndef CORTEXM_CONV_FLOAT_MACS_DSP_H
#define CORTEXM_CONV_FLOAT_MACS_DSP_H

#include "common/stamp.h"
#include "common/dsp.h" /* first, for its pragma */
#include "common/accumulate.h"
#include "common/taps.h"
#include "cortexm/kernels.h"

/* What the assembly below takes, which knows the places of the members: a window's terms, with the gaps
 * between the weights of outputs side by side, those of planes from their last rows; where the biases and the
 * outputs are, in bytes. */
typedef struct {
    int32_t planes, rows, columns;
    int32_t step, row_gap, plane_gap;
    int32_t w_row_gap, w_plane_gap;
    const float *bias;
    int32_t bias_step;
    float *out;
    int32_t out_step, out_beside;
    int32_t outputs;
} walk_t;

#define FPU_REGISTERS                                                                              \
    "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14",  \
        "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27",  \
        "s28", "s29", "s30", "s31"

/* Products of four weights with the activation x: of any, or of those in s24 and the next. */
#define MACS_OF(a, b, c, d, p, q, r, s, x)  \
    "vfma.f32  s" #a ", s" #p ", " x "\n\t" \
    "vfma.f32  s" #b ", s" #q ", " x "\n\t" \
    "vfma.f32  s" #c ", s" #r ", " x "\n\t" \
    "vfma.f32  s" #d ", s" #s ", " x "\n\t"
#define MACS(a, b, c, d, x) MACS_OF(a, b, c, d, 24, 25, 26, 27, x)
#define WEIGHTS "vldmia    %[w]!, {s24-s27}\n\t"
/* The activations of three pixels: neighbouring terms, or any. */
#define NEIGHBOURS               \
    "vldmia    %[x]!, {s28}\n\t" \
    "vldmia    %[y]!, {s29}\n\t" \
    "vldmia    %[z]!, {s30}\n\t"
#define DISTANT                   \
    "vldr      s28, [%[x]]\n\t"   \
    "vldr      s29, [%[y]]\n\t"   \
    "vldr      s30, [%[z]]\n\t"   \
    "add       %[x], %[step]\n\t" \
    "add       %[y], %[step]\n\t" \
    "add       %[z], %[step]\n\t"
#define FOURS MACS(0, 1, 2, 3, "s28") MACS(8, 9, 10, 11, "s29") MACS(16, 17, 18, 19, "s30")
#define EIGHTS FOURS WEIGHTS MACS(4, 5, 6, 7, "s28") MACS(12, 13, 14, 15, "s29") MACS(20, 21, 22, 23, "s30")
/* Three terms of pixels whose windows are a column apart: together they have five columns. */
#define COLUMN(s) "vldr      " s ", [%[x]]\n\tadd       %[x], %[step]\n\t"
#define EIGHT_OF_COLUMNS(p, q, r)                                             \
    WEIGHTS MACS(0, 1, 2, 3, p) MACS(8, 9, 10, 11, q) MACS(16, 17, 18, 19, r) \
    WEIGHTS MACS(4, 5, 6, 7, p) MACS(12, 13, 14, 15, q) MACS(20, 21, 22, 23, r)
#define EIGHTS_OF_COLUMNS                                                           \
    COLUMN("s28") COLUMN("s29") COLUMN("s30") EIGHT_OF_COLUMNS("s28", "s29", "s30") \
    COLUMN("s31") EIGHT_OF_COLUMNS("s29", "s30", "s31")                             \
    "vldr      s28, [%[x]]\n\t"                                                     \
    EIGHT_OF_COLUMNS("s30", "s31", "s28")
/* All of them at once, if there are registers, where they may lie side by side. */
#define FIVE_COLUMNS(a, b, c, d, e)                 \
    "cmp       %[step], #4\n\t"                     \
    "bne       5f\n\t"                              \
    "vldmia    %[x], {" a "-" e "}\n\t"             \
    "add       %[x], #16\n\t"                       \
    "b         6f\n"                                \
    "5:\n\t"                                        \
    COLUMN(a) COLUMN(b) COLUMN(c) COLUMN(d)         \
    "vldr      " e ", [%[x]]\n"                     \
    "6:\n\t"
#define FOUR_OF_COLUMNS(p, q, r)                    \
    "vldmia    %[w]!, {s20-s23}\n\t"                \
    MACS_OF(0, 1, 2, 3, 20, 21, 22, 23, p)          \
    MACS_OF(8, 9, 10, 11, 20, 21, 22, 23, q)        \
    MACS_OF(16, 17, 18, 19, 20, 21, 22, 23, r)
#define FOURS_OF_COLUMNS                            \
    FIVE_COLUMNS("s27", "s28", "s29", "s30", "s31") \
    FOUR_OF_COLUMNS("s27", "s28", "s29") FOUR_OF_COLUMNS("s28", "s29", "s30") FOUR_OF_COLUMNS("s29", "s30", "s31")
#define REPEAT(TERMS)                \
    "ldr       %[n], [%[at], #8]\n"  \
    "3:\n\t" TERMS                   \
    "subs      %[n], #1\n\t"         \
    "bne       3b\n\t"

/* Biases, for sums of three pixels; side by side, or as far apart as `rows` says. */
#define BIAS(a)                      \
    "vldr      s" #a ", [%[n]]\n\t"  \
    "add       %[n], %[rows]\n\t"
#define BIAS_OF_ALL(a, b, c)           \
    "vmov      s" #b ", s" #a "\n\t"   \
    "vmov      s" #c ", s" #a "\n\t"
#define BIASES(FIRST, SECOND, THIRD, EACH)   \
    "cmp       %[rows], #4\n\t"              \
    "bne       5f\n\t"                       \
    "vldmia    %[n], {" FIRST "}\n\t"        \
    "vldmia    %[n], {" SECOND "}\n\t"       \
    "vldmia    %[n], {" THIRD "}\n\t"        \
    "b         6f\n"                         \
    "5:\n\t" EACH                            \
    "6:\n\t"
#define BIAS_OF_THREE(a, b, c) BIAS(a) BIAS_OF_ALL(a, b, c)
#define EACH_OF_FOUR_BIASES \
    BIAS_OF_THREE(0, 8, 16) BIAS_OF_THREE(1, 9, 17) BIAS_OF_THREE(2, 10, 18) BIAS_OF_THREE(3, 11, 19)
#define FOUR_BIASES BIASES("s0-s3", "s8-s11", "s16-s19", EACH_OF_FOUR_BIASES)
#define EIGHT_BIASES                                                                              \
    BIASES("s0-s7", "s8-s15", "s16-s23", EACH_OF_FOUR_BIASES BIAS_OF_THREE(4, 12, 20)             \
           BIAS_OF_THREE(5, 13, 21) BIAS_OF_THREE(6, 14, 22) BIAS_OF_THREE(7, 15, 23))
#define STORE(a, b, c)                \
    "vstr      s" #a ", [%[x]]\n\t"   \
    "vstr      s" #b ", [%[y]]\n\t"   \
    "vstr      s" #c ", [%[z]]\n\t"   \
    "add       %[x], %[n]\n\t"        \
    "add       %[y], %[n]\n\t"        \
    "add       %[z], %[n]\n\t"
/* The outputs of a pixel, side by side, or as far apart as `n` says. */
#define STORES(FIRST, SECOND, THIRD, EACH) \
    "cmp       %[n], #4\n\t"               \
    "bne       7f\n\t"                     \
    "vstmia    %[x], {" FIRST "}\n\t"      \
    "vstmia    %[y], {" SECOND "}\n\t"     \
    "vstmia    %[z], {" THIRD "}\n\t"      \
    "b         8f\n"                       \
    "7:\n\t" EACH                          \
    "8:"
#define EACH_OF_FOUR STORE(0, 8, 16) STORE(1, 9, 17) STORE(2, 10, 18) STORE(3, 11, 19)
#define STORE_FOUR STORES("s0-s3", "s8-s11", "s16-s19", EACH_OF_FOUR)
#define STORE_EIGHT                                                              \
    STORES("s0-s7", "s8-s15", "s16-s23", EACH_OF_FOUR                             \
           STORE(4, 12, 20) STORE(5, 13, 21) STORE(6, 14, 22) STORE(7, 15, 23))

/* Eight outputs, or four, of three pixels. */
#define THREE_PIXELS(START, ROWS, END)                                                     \
    __asm__ volatile("ldrd      %[n], %[rows], [%[at], #32]\n\t"                           \
                     START                                                                 \
                     "ldrd      %[planes], %[rows], [%[at]]\n\t"                           \
                     "cmp       %[planes], #0\n\t"                                         \
                     "beq       4f\n"                                                      \
                     "14:\n\t"                                                             \
                     ROWS                                                                  \
                     "12:\n\t"                                                             \
                     "subs      %[planes], #1\n\t"                                         \
                     "beq       4f\n\t"                                                    \
                     "ldr       %[n], [%[at], #20]\n\t"                                    \
                     "add       %[x], %[n]\n\t"                                            \
                     "add       %[y], %[n]\n\t"                                            \
                     "add       %[z], %[n]\n\t"                                            \
                     "ldr       %[n], [%[at], #28]\n\t"                                    \
                     "add       %[w], %[n]\n\t"                                            \
                     "ldr       %[rows], [%[at], #4]\n\t"                                  \
                     "b         14b\n"                                                     \
                     "4:\n\t"                                                              \
                     "ldrd      %[x], %[n], [%[at], #40]\n\t"                              \
                     "ldr       %[z], [%[at], #48]\n\t"                                    \
                     "add       %[y], %[x], %[z]\n\t"                                      \
                     "add       %[z], %[y]\n\t"                                            \
                     END                                                                   \
                     : [x] "+r"(x), [y] "+r"(y), [z] "+r"(z), [w] "+r"(w), [n] "=&r"(n),   \
                       [rows] "=&r"(rows), [planes] "=&r"(planes)                          \
                     : [at] "r"(&walk), [step] "r"(walk.step), [shared] "r"(shared)        \
                     : FPU_REGISTERS, "cc", "memory")
/* The rows of a plane, and the way from one to the next. */
#define NEXT_ROW                        \
    "ldr       %[n], [%[at], #16]\n\t"  \
    "add       %[x], %[n]\n\t"          \
    "add       %[y], %[n]\n\t"          \
    "add       %[z], %[n]\n\t"          \
    "ldr       %[n], [%[at], #24]\n\t"  \
    "add       %[w], %[n]\n"
#define ROW_END                         \
    "subs      %[rows], #1\n\t"         \
    "bne       1b\n\t"
#define ROWS_OF(ROW)                    \
    "b         2f\n"                    \
    "1:\n\t" NEXT_ROW "2:\n\t" ROW ROW_END
/* The same where pixels share columns: x leads to the fifth one, and all weights follow each other. */
#define SHARED_ROWS_OF(ROW)             \
    "ldr       %[z], [%[at], #16]\n"    \
    "1:\n\t" ROW                        \
    "add       %[x], %[z]\n\t"          \
    "subs      %[rows], #1\n\t"         \
    "bne       1b\n\t"                  \
    "subs      %[planes], #1\n\t"       \
    "beq       4f\n\t"                  \
    "ldr       %[n], [%[at], #20]\n\t"  \
    "add       %[x], %[n]\n\t"          \
    "ldr       %[n], [%[at], #28]\n\t"  \
    "add       %[w], %[n]\n\t"          \
    "ldr       %[rows], [%[at], #4]\n\t" \
    "b         1b\n"
/* Of eight outputs: with shared columns, of neighbouring terms, or of any. */
#define ROWS_OF_EIGHT                         \
    "cmp       %[shared], #0\n\t"             \
    "beq       9f\n\t"                        \
    SHARED_ROWS_OF(EIGHTS_OF_COLUMNS)         \
    "9:\n\t"                                  \
    "cmp       %[step], #4\n\t"               \
    "bne       10f\n\t"                       \
    ROWS_OF(REPEAT(WEIGHTS NEIGHBOURS EIGHTS)) \
    "b         12f\n"                         \
    "10:\n\t"                                 \
    ROWS_OF(REPEAT(WEIGHTS DISTANT EIGHTS))

#define ROWS_OF_FOUR                                  \
    "cmp       %[shared], #0\n\t"                     \
    "beq       9f\n\t"                                \
    SHARED_ROWS_OF(FOURS_OF_COLUMNS)                  \
    "9:\n\t"                                          \
    ROWS_OF(REPEAT(WEIGHTS DISTANT FOURS))

/* Up to three outputs of three pixels. */
#define FEW_BIASES                     \
    "ldr       %[planes], [%[at], #52]\n\t" \
    "cmp       %[planes], #2\n\t"      \
    BIAS(0)                            \
    "itt       ge\n\t"                 \
    "vldrge    s1, [%[n]]\n\t"         \
    "addge     %[n], %[rows]\n\t"      \
    "it        gt\n\t"                 \
    "vldrgt    s2, [%[n]]\n\t"         \
    BIAS_OF_ALL(0, 8, 16) BIAS_OF_ALL(1, 9, 17) BIAS_OF_ALL(2, 10, 18)
#define FEW_STORES                     \
    "ldr       %[rows], [%[at], #52]\n\t" \
    "cmp       %[rows], #2\n\t"        \
    STORE(0, 8, 16)                    \
    "blt       8f\n\t"                 \
    STORE(1, 9, 17)                    \
    "beq       8f\n\t"                 \
    STORE(2, 10, 18)                   \
    "8:"
#define OUTPUT(w, a, b, c)                       \
    "vfma.f32  s" #a ", s" #w ", s28\n\t"        \
    "vfma.f32  s" #b ", s" #w ", s29\n\t"        \
    "vfma.f32  s" #c ", s" #w ", s30\n\t"
#define ONE_OUTPUT "vldmia    %[w]!, {s24}\n\t" OUTPUT(24, 0, 8, 16)
#define TWO_OUTPUTS "vldmia    %[w]!, {s24-s25}\n\t" OUTPUT(24, 0, 8, 16) OUTPUT(25, 1, 9, 17)
#define THREE_OUTPUTS \
    "vldmia    %[w]!, {s24-s26}\n\t" OUTPUT(24, 0, 8, 16) OUTPUT(25, 1, 9, 17) OUTPUT(26, 2, 10, 18)
/* Four neighbouring terms of one output, or of two, and three, as rows of windows often have. */
#define FOUR_NEIGHBOURS                \
    "vldmia    %[x]!, {s28-s31}\n\t"   \
    "vldmia    %[y]!, {s4-s7}\n\t"     \
    "vldmia    %[z]!, {s12-s15}\n\t"
#define THREE_NEIGHBOURS               \
    "vldmia    %[x]!, {s28-s30}\n\t"   \
    "vldmia    %[y]!, {s4-s6}\n\t"     \
    "vldmia    %[z]!, {s12-s14}\n\t"
#define TERM_OF_ONE(w, x, y, z)                  \
    "vfma.f32  s0, s" #w ", s" #x "\n\t"         \
    "vfma.f32  s8, s" #w ", s" #y "\n\t"         \
    "vfma.f32  s16, s" #w ", s" #z "\n\t"
#define TERM_OF_TWO(w, v, x, y, z)               \
    TERM_OF_ONE(w, x, y, z)                      \
    "vfma.f32  s1, s" #v ", s" #x "\n\t"         \
    "vfma.f32  s9, s" #v ", s" #y "\n\t"         \
    "vfma.f32  s17, s" #v ", s" #z "\n\t"
#define FOURS_OF_ONE                                              \
    FOUR_NEIGHBOURS "vldmia    %[w]!, {s20-s23}\n\t"              \
    TERM_OF_ONE(20, 28, 4, 12) TERM_OF_ONE(21, 29, 5, 13)         \
    TERM_OF_ONE(22, 30, 6, 14) TERM_OF_ONE(23, 31, 7, 15)
#define FOURS_OF_TWO                                              \
    FOUR_NEIGHBOURS "vldmia    %[w]!, {s20-s27}\n\t"              \
    TERM_OF_TWO(20, 21, 28, 4, 12) TERM_OF_TWO(22, 23, 29, 5, 13) \
    TERM_OF_TWO(24, 25, 30, 6, 14) TERM_OF_TWO(26, 27, 31, 7, 15)
#define THREES_OF_ONE                                             \
    THREE_NEIGHBOURS "vldmia    %[w]!, {s20-s22}\n\t"             \
    TERM_OF_ONE(20, 28, 4, 12) TERM_OF_ONE(21, 29, 5, 13) TERM_OF_ONE(22, 30, 6, 14)
#define THREES_OF_TWO                                             \
    THREE_NEIGHBOURS "vldmia    %[w]!, {s20-s25}\n\t"             \
    TERM_OF_TWO(20, 21, 28, 4, 12) TERM_OF_TWO(22, 23, 29, 5, 13) TERM_OF_TWO(24, 25, 30, 6, 14)
/* Three terms of pixels whose windows are a column apart, s3 to s7. */
#define THREE_OF(a, p, q, r, x, y, z)        \
    "vfma.f32  s" #a ", s" #p ", s" #x "\n\t" \
    "vfma.f32  s" #a ", s" #q ", s" #y "\n\t" \
    "vfma.f32  s" #a ", s" #r ", s" #z "\n\t"
#define SHARED_OUTPUT(a, b, c, p, q, r) \
    THREE_OF(a, p, q, r, 3, 4, 5) THREE_OF(b, p, q, r, 4, 5, 6) THREE_OF(c, p, q, r, 5, 6, 7)
#define SHARED_ONE "vldmia    %[w]!, {s19-s21}\n\t" SHARED_OUTPUT(0, 8, 16, 19, 20, 21)
#define SHARED_TWO                     \
    "vldmia    %[w]!, {s19-s24}\n\t"   \
    SHARED_OUTPUT(0, 8, 16, 19, 21, 23) SHARED_OUTPUT(1, 9, 17, 20, 22, 24)
#define SHARED_THREE                   \
    "vldmia    %[w]!, {s19-s27}\n\t"   \
    SHARED_OUTPUT(0, 8, 16, 19, 22, 25) SHARED_OUTPUT(1, 9, 17, 20, 23, 26) \
    SHARED_OUTPUT(2, 10, 18, 21, 24, 27)
/* A row of terms, at first in fours. */
#define REPEAT_FOURS(FOUR, THREE, TERMS)       \
    "ldr       %[n], [%[at], #8]\n\t"          \
    "subs      %[n], #4\n\t"                   \
    "bmi       10f\n"                           \
    "3:\n\t" FOUR                              \
    "subs      %[n], #4\n\t"                   \
    "bpl       3b\n"                           \
    "10:\n\t"                                  \
    "adds      %[n], #4\n\t"                   \
    "beq       9f\n\t"                         \
    "cmp       %[n], #3\n\t"                   \
    "bne       3f\n\t" THREE                   \
    "b         9f\n"                           \
    "3:\n\t" TERMS                             \
    "subs      %[n], #1\n\t"                   \
    "bne       3b\n\t"
/* A row of one, two or three outputs. */
#define WHICH_OF_FEW(ONE, TWO, THREE) \
    "cmp       %[n], #2\n\t"          \
    "beq       5f\n\t"                \
    "bgt       6f\n\t"                \
    ONE                               \
    "b         9f\n"                  \
    "5:\n\t" TWO                      \
    "b         9f\n"                  \
    "6:\n\t" THREE
#define SHARED_ROWS(OUTPUTS) SHARED_ROWS_OF(FIVE_COLUMNS("s3", "s4", "s5", "s6", "s7") OUTPUTS)
#define ROWS_OF_FEW                                                                         \
    "cmp       %[shared], #2\n\t"                                                           \
    "beq       7f\n\t"                                                                      \
    "bgt       8f\n\t"                                                                      \
    "cmp       %[shared], #0\n\t"                                                           \
    "beq       2f\n\t"                                                                      \
    SHARED_ROWS(SHARED_ONE)                                                                 \
    "7:\n\t" SHARED_ROWS(SHARED_TWO)                                                        \
    "8:\n\t" SHARED_ROWS(SHARED_THREE)                                                      \
    "1:\n\t"                                                                               \
    NEXT_ROW                                                                                \
    "2:\n\t" ROW_OF_FEW                                                                     \
    ROW_END
#define ROW_OF_FEW                                                                          \
    "ldr       %[n], [%[at], #52]\n\t"                                                      \
    "cmp       %[step], #4\n\t"                                                             \
    "bne       11f\n\t"                                                                     \
    WHICH_OF_FEW(REPEAT_FOURS(FOURS_OF_ONE, THREES_OF_ONE, NEIGHBOURS ONE_OUTPUT),          \
                 REPEAT_FOURS(FOURS_OF_TWO, THREES_OF_TWO, NEIGHBOURS TWO_OUTPUTS),         \
                 REPEAT(NEIGHBOURS THREE_OUTPUTS))                                          \
    "b         9f\n"                                                                        \
    "11:\n\t"                                                                               \
    WHICH_OF_FEW(REPEAT(DISTANT ONE_OUTPUT), REPEAT(DISTANT TWO_OUTPUTS), REPEAT(DISTANT THREE_OUTPUTS)) \
    "9:\n\t"

/* Four terms of a pixel's eight outputs, or up to four, with up to sixteen weights at once; and one term. */
#define TWO_OF_EIGHT(x, y)                 \
    "vldmia    %[w]!, {s16-s31}\n\t"       \
    MACS_OF(0, 1, 2, 3, 16, 17, 18, 19, x) \
    MACS_OF(4, 5, 6, 7, 20, 21, 22, 23, x) \
    MACS_OF(0, 1, 2, 3, 24, 25, 26, 27, y) \
    MACS_OF(4, 5, 6, 7, 28, 29, 30, 31, y)
#define FOUR_OF_EIGHT TWO_OF_EIGHT("s8", "s9") TWO_OF_EIGHT("s10", "s11")
#define ONE_OF_EIGHT                 \
    "vldmia    %[w]!, {s24-s31}\n\t" \
    MACS(0, 1, 2, 3, "s8")           \
    MACS_OF(4, 5, 6, 7, 28, 29, 30, 31, "s8")
#define FOUR_OF_FOUR                           \
    "vldmia    %[w]!, {s16-s31}\n\t"           \
    MACS_OF(0, 1, 2, 3, 16, 17, 18, 19, "s8")  \
    MACS_OF(0, 1, 2, 3, 20, 21, 22, 23, "s9")  \
    MACS_OF(0, 1, 2, 3, 24, 25, 26, 27, "s10") \
    MACS_OF(0, 1, 2, 3, 28, 29, 30, 31, "s11")
#define ONE_OF_FOUR WEIGHTS MACS(0, 1, 2, 3, "s8")
#define THREE_MACS(p, q, r, x)          \
    "vfma.f32  s0, s" #p ", " x "\n\t"  \
    "vfma.f32  s1, s" #q ", " x "\n\t"  \
    "vfma.f32  s2, s" #r ", " x "\n\t"
#define FOUR_OF_THREE                \
    "vldmia    %[w]!, {s16-s27}\n\t" \
    THREE_MACS(16, 17, 18, "s8") THREE_MACS(19, 20, 21, "s9") \
    THREE_MACS(22, 23, 24, "s10") THREE_MACS(25, 26, 27, "s11")
#define ONE_OF_THREE "vldmia    %[w]!, {s24-s26}\n\t" THREE_MACS(24, 25, 26, "s8")
#define TWO_MACS(p, q, x)               \
    "vfma.f32  s0, s" #p ", " x "\n\t"  \
    "vfma.f32  s1, s" #q ", " x "\n\t"
#define FOUR_OF_TWO                  \
    "vldmia    %[w]!, {s16-s23}\n\t" \
    TWO_MACS(16, 17, "s8") TWO_MACS(18, 19, "s9") TWO_MACS(20, 21, "s10") TWO_MACS(22, 23, "s11")
#define ONE_OF_TWO "vldmia    %[w]!, {s24-s25}\n\t" TWO_MACS(24, 25, "s8")
#define FOUR_OF_ONE WEIGHTS      \
    "vfma.f32  s0, s24, s8\n\t"  \
    "vfma.f32  s0, s25, s9\n\t"  \
    "vfma.f32  s0, s26, s10\n\t" \
    "vfma.f32  s0, s27, s11\n\t"
#define ONE_OF_ONE               \
    "vldmia    %[w]!, {s24}\n\t" \
    "vfma.f32  s0, s24, s8\n\t"

#endif
