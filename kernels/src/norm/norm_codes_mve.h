/* SPDX-License-Identifier: Apache-2.0 */
/* group_norm of codes, MVE. See kernels/README.md for the formulas. */
#ifndef CORTEXM_NORM_NORM_CODES_MVE_H
#define CORTEXM_NORM_NORM_CODES_MVE_H

/*
 * group_norm of codes. Four rows at a time: their sums, what follows from them with a row in each lane, and their
 * codes, of which two rows share the factors that they load. group_norm_rows is for rows that follow each other,
 * with the same factors, as those of layer_norm.
 */

#define LOAD(x, from) CORTEXM_JOIN(LOAD_, FROM)(x, from)
#define LOAD_s8(x, from) "vldrb.s32 " x ", [" from "], #4\n\t"
#define LOAD_s16(x, from) "vldrh.s32 " x ", [" from "], #8\n\t"
#define STORE(x, to) CORTEXM_JOIN(STORE_, FROM)(x, to)
#define STORE_s8(x, to) "vstrb.32  " x ", [" to "], #4\n\t"
#define STORE_s16(x, to) "vstrh.32  " x ", [" to "], #8\n\t"
/* What is shifted to the left so that codes are its upper bits saturates as they do. */
#define SHIFT_AND_CLAMP(x, shift) "vqshl.s32 " x ", " shift "\n\tvshr.s32  " x ", " x ", #" UPPER_BITS "\n\t"
#define UPPER_BITS CORTEXM_JOIN(UPPER_BITS_, FROM)
#define UPPER_BITS_s8 "24"
#define UPPER_BITS_s16 "16"
#define LEFT_OF_SHIFT CORTEXM_JOIN(LEFT_OF_SHIFT_, FROM)
#define LEFT_OF_SHIFT_s8 "rsb       r8, r8, #24\n\t"
#define LEFT_OF_SHIFT_s16 "rsb       r8, r8, #16\n\tuxtb      r8, r8\n\t"

#define OF_WIDE(instruction) CORTEXM_JOIN(OF_WIDE_, FROM)(instruction)
#define OF_WIDE_s8(instruction)
#define OF_WIDE_s16(instruction) instruction "\n\t"
#define OF_NARROW(instruction) CORTEXM_JOIN(OF_NARROW_, FROM)(instruction)
#define OF_NARROW_s8(instruction) instruction "\n\t"
#define OF_NARROW_s16(instruction)

/* One of Newton's iterations y (3 - m y^2) / 2, of y in q1 and m in q3, with -4 in q6 and 3 in Q30 in r7. */
#define STEP                                                                                       \
    "vmulh.u32 q4, q1, q1\n\t"                                                                     \
    "vmulh.u32 q4, q3, q4\n\t"                                                                     \
    "vmlas.u32 q4, q6, r7\n\t"                                                                     \
    "vshl.i32  q1, q1, #1\n\t"                                                                     \
    "vmulh.u32 q1, q1, q4\n\t"

/* Registers of elements as bytes, one by one or two at once. */
#define ONE(step) CORTEXM_JOIN(ONE_, FROM)(step)
#define ONE_s8(step) step
#define ONE_s16(step) step ", lsl #1"
#define TWO(step) CORTEXM_JOIN(TWO_, FROM)(step)
#define TWO_s8(step) step ", lsl #1"
#define TWO_s16(step) step ", lsl #2"

/* What the assembly knows of rows, from BASE on; r9 has the parameters, with a row in each group:
 *   0, 4     where the next row is and where it goes
 *   8, 12    the first factor and offset
 *   16, 20   how many rows there are at once, up to four, and in all
 *   24       four sums
 *   40, 56   of squares; of int16 with an upper word
 *   72, 88   unit and start
 *   104      root */

#define AT(place) "[" BASE " + " place "]\n\t"

#define ADD_VECTOR(x, from, codes, low, high) CORTEXM_JOIN(ADD_VECTOR_, FROM)(x, from, codes, low, high)
#define ADD_VECTOR_s8(x, from, codes, low, high)                                                   \
    "vldrb.u8  " x ", [" from "], #16\n\t"                                                         \
    "vaddva.s8 " codes ", " x "\n\t"                                                               \
    "vmladava.s8 " low ", " x ", " x "\n\t"
#define ADD_VECTOR_s16(x, from, codes, low, high)                                                  \
    "vldrh.u16 " x ", [" from "], #16\n\t"                                                         \
    "vaddva.s16 " codes ", " x "\n\t"                                                              \
    "vmlaldava.s16 " low ", " high ", " x ", " x "\n\t"
#define BEGIN CORTEXM_JOIN(BEGIN_, FROM)
#define BEGIN_s8 "dlstp.8   lr, "
#define BEGIN_s16 "dlstp.16  lr, "

/* The second row of two, and its squares: of int8 other registers, so that r10 keeps what it has. */
#define SECOND CORTEXM_JOIN(SECOND_, FROM)
#define SECOND_s8 "r7"
#define SECOND_s16 "r12"
#define ITS_SQUARES CORTEXM_JOIN(ITS_SQUARES_, FROM)
#define ITS_SQUARES_s8 "r12"
#define ITS_SQUARES_s16 "r10"

/* The sums of the next rows, at most r3. */
#define SUM_ROWS                                                                                   \
    "cmp       r3, #4\n\t"                                                                         \
    "it        gt\n\t"                                                                             \
    "movgt     r3, #4\n\t"                                                                         \
    "str       r3, " AT("16")                                                                      \
    FROM_PLACE                                                                                     \
    "ldr       r5, [r9, #20]\n\t"                                                                  \
    "add       r0, " BASE " + 24\n\t"                                                              \
    "subs      r3, #2\n\t"                                                                         \
    "blt       13f\n"                                                                              \
    "11:\n\t"                                                                                      \
    "movs      r4, #0\n\t"                                                                         \
    "movs      r6, #0\n\t"                                                                         \
    "mov       r8, #0\n\t"                                                                         \
    "mov       " ITS_SQUARES ", #0\n\t" OF_WIDE("movs      r7, #0") OF_WIDE("mov       r11, #0")   \
    "mov       r2, r1\n\t"                                                                         \
    "add       " SECOND ", r1, " ONE("r5") "\n\t"                                                  \
    BEGIN_SUMS                                                                                     \
    "12:\n\t" ADD_VECTOR("q0", "r2", "r4", "r8", "r7")                                             \
        ADD_VECTOR("q1", SECOND, "r6", ITS_SQUARES, "r11")                                                \
    "letp      lr, 12b\n\t"                                                                        \
    "strd      r4, r6, [r0], #8\n\t"                                                               \
    "strd      r8, " ITS_SQUARES ", [r0, #8]\n\t" OF_WIDE("strd      r7, r11, [r0, #24]")                      \
    "add       r1, r1, " TWO("r5") "\n\t"                                                          \
    "subs      r3, #2\n\t"                                                                         \
    "bge       11b\n"                                                                              \
    "13:\n\t"                                                                                      \
    "adds      r3, #1\n\t"                                                                         \
    "bne       15f\n\t"                                                                            \
    "movs      r4, #0\n\t"                                                                         \
    "mov       r8, #0\n\t" OF_WIDE("movs      r7, #0")                                             \
    BEGIN_SUMS                                                                                     \
    "14:\n\t" ADD_VECTOR("q0", "r1", "r4", "r8", "r7")                                             \
    "letp      lr, 14b\n\t"                                                                        \
    "str       r4, [r0]\n\t"                                                                       \
    "str       r8, [r0, #16]\n\t" OF_WIDE("str       r7, [r0, #32]")                               \
    "15:\n\t"

/*
 * unit, start and root: finish_row() in norm.inc, with a row in each lane. Numbers of 64 bits are two vectors, q1
 * and the upper q3: the product of the size and the sum of squares, the power, and m. q5 is how far codes are
 * raised. Instead of a carry 1 is taken back where there is none. The scaled sum whose square is subtracted serves
 * the start as well. What is rare is elsewhere, AFTER_ROWS.
 */
#define RAISE CORTEXM_JOIN(RAISE_, FROM)
#define RAISE_s8 "#40"
#define RAISE_s16 "#26"
#define HALF CORTEXM_JOIN(HALF_, FROM)
#define HALF_s8 "23"
#define HALF_s16 "16"
#define FINISH_ROWS                                                                                \
    "vldrw.u32 q0, " AT("24")                                                                      \
    "vldrw.u32 q1, " AT("40") OF_WIDE("vldrw.u32 q2, [" BASE " + 56]")                             \
    "add       r0, r9, #64\n\t"                                                                    \
    "ldm       r0, {r0, r1, r2, r3, r4, r5, r6}\n\t" /* bits to centred */                         \
    "mov       r12, #1\n\t"                                                                        \
    "mov       lr, #32\n\t"                                                                        \
    /* The squares of codes less the zero point z: sum x^2 + z (n z - 2 sum x). */                 \
    OF_NARROW("cbnz      r6, 21f")                                                                 \
    OF_NARROW("ldr       r7, [r9, #60]")                                                           \
    OF_NARROW("mul       r7, r7, r5") OF_NARROW("vdup.32   q3, r7")                                \
    OF_NARROW("vshl.i32  q4, q0, #1") OF_NARROW("vsub.i32  q3, q3, q4")                            \
    OF_NARROW("vmul.i32  q3, q3, r5") OF_NARROW("vadd.i32  q1, q1, q3")                            \
    "21:\n\t" OF_NARROW("lsrs      r7, r1, #2") OF_NARROW("rsb       r8, r0, #16")                 \
    OF_NARROW("vshl.u32  q1, r8") OF_WIDE("lsr       r7, r1, r0")                                  \
    "vdup.32   q7, r7\n\t"                                                                         \
    "vmulh.u32 q3, q1, q7\n\t"                                                                     \
    "vmul.i32  q1, q1, r7\n\t" OF_WIDE("vmla.s32  q3, q2, r7")                                     \
    "cbz       r6, 22f\n\t"                                                                        \
    "rsb       r7, r0, #" HALF "\n\t"                                                              \
    "vshl.s32  q0, r7\n\t"                                                                         \
    "vmulh.s32 q4, q0, q0\n\t"                                                                     \
    "vsub.i32  q3, q3, q4\n\t"                                                                     \
    "vmul.i32  q4, q0, q0\n\t"                                                                     \
    "vpt.u32   hi, q4, q1\n\t"                                                                     \
    "vsubt.i32 q3, q3, r12\n\t"                                                                    \
    "vsub.i32  q1, q1, q4\n"                                                                       \
    "22:\n\t"                                                                                      \
    "vadd.i32  q1, q1, r4\n\t"                                                                     \
    "adds      r3, #1\n\t"                                                                         \
    "vadd.i32  q3, q3, r3\n\t"                                                                     \
    "vpt.u32   cs, q1, r4\n\t"                                                                     \
    "vsubt.i32 q3, q3, r12\n\t"                                                                    \
    "rsb       r7, r0, " RAISE "\n\t"                                                              \
    "asrs      r7, r7, #1\n\t"                                                                     \
    /* Zeros in front of the power. A word that is shifted as far as it is wide is 0. */           \
    "vclz.i32  q4, q3\n\t"                                                                         \
    "vptt.i32  eq, q3, zr\n\t"                                                                     \
    "vclzt.i32 q4, q1\n\t"                                                                         \
    "vaddt.i32 q4, q4, lr\n\t"                                                                     \
    "vbic.i32  q4, #1\n\t"                                                                         \
    "vshl.u32  q3, q3, q4\n\t"                                                                     \
    "vsub.i32  q6, q4, lr\n\t"                                                                     \
    "vshl.u32  q1, q1, q6\n\t"                                                                     \
    "vorr      q3, q3, q1\n\t"                                                                     \
    "vshr.u32  q4, q4, #1\n\t"                                                                     \
    "vadd.i32  q5, q4, r7\n\t"                                                                     \
    /* q1: the inverse root of m, in three steps */                                                \
    "ldrd      r7, r8, 91f\n\t"                                                                    \
    "vdup.32   q1, r7\n\t"                                                                         \
    "vmulh.u32 q1, q3, q1\n\t"                                                                     \
    "vdup.32   q4, r8\n\t"                                                                         \
    "vsub.i32  q1, q4, q1\n\t"                                                                     \
    "mov       r7, #0xc0000000\n\t"                                                                \
    "vmvn.i32  q6, #3\n\t" STEP STEP STEP                                                          \
    "vdup.32   q4, r1\n\t"                                                                         \
    "vmulh.u32 q1, q1, q4\n\t"                                                                     \
    "vdup.32   q4, r12\n\t"                                                                        \
    "vstrw.32  q1, " AT("104")                                                                     \
    "vshl.u32  q4, q4, q5\n\t"                                                                     \
    "vstrw.32  q4, " AT("72")                                                                      \
    "cbnz      r6, 23f\n\t"                                                                        \
    "b         92f\n"                                                                              \
    "23:\n\t"                                                                                      \
    "vdup.32   q3, r2\n\t" /* inverse */                                                           \
    "vmulh.u32 q3, q0, q3\n\t"                                                                     \
    "vpt.s32   lt, q0, zr\n\t"                                                                     \
    "vsubt.i32 q3, q3, r2\n\t"                                                                     \
    "vmul.i32  q1, q0, r2\n\t"                                                                     \
    "vshl.i32  q6, q3, #34 - " HALF "\n\t" /* 32 bits behind the point where the unit is 1 */      \
    "vsri.32   q6, q1, #" HALF " - 2\n\t"                                                          \
    "vshr.s32  q3, q3, #" HALF " - 2\n\t"                                                          \
    "vmulh.u32 q6, q6, q4\n\t"                                                                     \
    "vmul.i32  q1, q3, q4\n\t"                                                                     \
    "vadd.i32  q1, q1, q6\n"                                                                       \
    "24:\n\t"                                                                                      \
    "vneg.s32  q1, q1\n\t"                                                                         \
    "vstrw.32  q1, " AT("88")
#define AFTER_ROWS                                                                                 \
    "92:\n\t" /* not centred */                                                                    \
    "vdup.32   q1, r5\n\t"                                                                         \
    "vshl.u32  q1, q1, q5\n\t"                                                                     \
    "b         24b\n\t"                                                                            \
    ".p2align  2\n"                                                                                \
    "91:\n\t"                                                                                      \
    ".word     1308601373, 2290065825"

/* The codes of these rows, each with its own factor. VQSHL looks at the last byte of r8 alone; the others count. */
#define PUT_ROWS                                                                                   \
    "ldr       r8, [r9, #92]\n\t"                                                                  \
    PLACES                                                                                         \
    "ldr       r0, " AT("16") LEFT_OF_SHIFT                                                        \
    "add       r12, " BASE " + 72\n\t"                                                             \
    "orr       r8, r8, r0, lsl #8\n\t"                                                             \
    "subs      r8, #512\n\t"                                                                       \
    "blt       33f\n"                                                                              \
    "31:\n\t" /* two rows */                                                                       \
    "ldrd      r6, r7, [r12], #8\n\t"                                                              \
    "vdup.32   q0, r6\n\t"                                                                         \
    "vdup.32   q1, r7\n\t"                                                                         \
    "ldrd      r6, r7, [r12, #24]\n\t"                                                             \
    "vdup.32   q2, r6\n\t"                                                                         \
    "vdup.32   q3, r7\n\t"                                                                         \
    "ldrd      r6, r7, [r12, #8]\n\t" BEGIN_TWO_ROWS                                               \
    "32:\n\t" LOAD("q4", "r0")                                                                     \
    "vmlas.u32 q4, q0, r6\n\t" LOAD("q5", "r1")                                                    \
    "vmlas.u32 q5, q1, r7\n\t"                                                                     \
    "vldrw.u32 q6, [r4], #16\n\t"                                                                  \
    "vmulh.s32 q4, q4, q2\n\t"                                                                     \
    "vmulh.s32 q5, q5, q3\n\t"                                                                     \
    "vldrw.u32 q7, [r5], #16\n\t"                                                                  \
    "vmulh.s32 q4, q4, q6\n\t"                                                                     \
    "vmulh.s32 q5, q5, q6\n\t"                                                                     \
    "vadd.i32  q4, q4, q7\n\t"                                                                     \
    "vadd.i32  q5, q5, q7\n\t" SHIFT_AND_CLAMP("q4", "r8") STORE("q4", "r2")                       \
        SHIFT_AND_CLAMP("q5", "r8") STORE("q5", "r3")                                              \
    "letp      lr, 32b\n\t"                                                                        \
    "subs      r8, #512\n\t"                                                                       \
    "bge       31b\n"                                                                              \
    "33:\n\t"                                                                                      \
    "adds      r8, #256\n\t"                                                                       \
    "blt       35f\n\t"                                                                            \
    "ldr       r6, [r12]\n\t"                                                                      \
    "vdup.32   q0, r6\n\t"                                                                         \
    "ldr       r6, [r12, #32]\n\t"                                                                 \
    "vdup.32   q2, r6\n\t"                                                                         \
    "ldr       r6, [r12, #16]\n\t"                                                                 \
    "mov       r0, r10\n\t"                                                                        \
    "mov       r2, r11\n\t"                                                                        \
    "ldr       lr, [r9, #12]\n\t"                                                                  \
    "ldrd      r4, r5, " AT("8")                                                                   \
    "dlstp.32  lr, lr\n"                                                                           \
    "34:\n\t" LOAD("q4", "r0")                                                                     \
    "vmlas.u32 q4, q0, r6\n\t"                                                                     \
    "vldrw.u32 q6, [r4], #16\n\t"                                                                  \
    "vmulh.s32 q4, q4, q2\n\t"                                                                     \
    "vldrw.u32 q7, [r5], #16\n\t"                                                                  \
    "vmulh.s32 q4, q4, q6\n\t"                                                                     \
    "vadd.i32  q4, q4, q7\n\t" SHIFT_AND_CLAMP("q4", "r8") STORE("q4", "r2")                       \
    "letp      lr, 34b\n"                                                                          \
    "35:\n\t"

#endif
