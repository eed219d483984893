/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of group_norm of codes, Armv7-M and DSP. */
#ifndef CORTEXM_NORM_NORM_CODES_H
#define CORTEXM_NORM_NORM_CODES_H

#include "common/stamp.h"
#include "cortexm/kernels.h"

/* An address behind another: `step` elements. */
#define ELEMENTS(step) CORTEXM_JOIN(ELEMENTS_, FROM)(step)
#define ELEMENTS_s8(step) step
#define ELEMENTS_s16(step) step ", lsl #1"
#define TWO_OF(step) CORTEXM_JOIN(TWO_OF_, FROM)(step)
#define TWO_OF_s8(step) step ", lsl #1"
#define TWO_OF_s16(step) step ", lsl #2"
#define LOAD CORTEXM_JOIN(LOAD_, FROM)
#define LOAD_s8 "ldrsb "
#define LOAD_s16 "ldrsh "
#define STORE CORTEXM_JOIN(STORE_, FROM)
#define STORE_s8 "strb  "
#define STORE_s16 "strh  "
#define SIZE CORTEXM_JOIN(SIZE_, FROM)
#define SIZE_s8 "#1"
#define SIZE_s16 "#2"
#define SIZE_OF_TWO CORTEXM_JOIN(SIZE_OF_TWO_, FROM)
#define SIZE_OF_TWO_s8 "#2"
#define SIZE_OF_TWO_s16 "#4"
#define BITS CORTEXM_JOIN(BITS_, FROM)
#define BITS_s8 "#8"
#define BITS_s16 "#16"

#define LOAD_SUMS CORTEXM_JOIN(LOAD_SUMS_, FROM)
#define LOAD_SUMS_s8 "ldrd   r4, r5, [r3]\n"
#define LOAD_SUMS_s16 "ldr    r4, [r3]\nldrd   r5, r6, [r3, #8]\n"
#define STORE_SUMS CORTEXM_JOIN(STORE_SUMS_, FROM)
#define STORE_SUMS_s8 "strd   r4, r5, [r3]\n"
#define STORE_SUMS_s16 "str    r4, [r3]\nstrd   r5, r6, [r3, #8]\n"

/* r4 += the codes, r5 (r6:r5 of int16) += their squares: of r0, which has four or two, and of r7. */
#define ADD_FOUR OF_BOTH(ADD_FOUR_)
#define OF_BOTH(macro) CORTEXM_JOIN(CORTEXM_JOIN(macro, FROM), CORTEXM_JOIN(_, ISA))
#define ADD_FOUR_s8_v7m                                                                            \
    "ldrsb  r7, [r0], #1\n" ADD_ONE_s8 "ldrsb  r7, [r0], #1\n" ADD_ONE_s8                          \
    "ldrsb  r7, [r0], #1\n" ADD_ONE_s8 "ldrsb  r7, [r0], #1\n" ADD_ONE_s8
#define ADD_FOUR_s16_v7m                                                                           \
    "ldrsh  r7, [r0], #2\n" ADD_ONE_s16 "ldrsh  r7, [r0], #2\n" ADD_ONE_s16                        \
    "ldrsh  r7, [r0], #2\n" ADD_ONE_s16 "ldrsh  r7, [r0], #2\n" ADD_ONE_s16
#define ADD_FOUR_s8_dsp                                                                            \
    "ldr    r7, [r0], #4\n"                                                                        \
    "sxtb16 r12, r7\n"                                                                             \
    "sxtb16 r7, r7, ror #8\n"                                                                      \
    "smlad  r4, r12, r8, r4\n"                                                                     \
    "smlad  r5, r12, r12, r5\n"                                                                    \
    "smlad  r4, r7, r8, r4\n"                                                                      \
    "smlad  r5, r7, r7, r5\n"
#define ADD_FOUR_s16_dsp                                                                           \
    "ldr    r7, [r0], #4\n"                                                                        \
    "ldr    r12, [r0], #4\n"                                                                       \
    "smlad  r4, r7, r8, r4\n"                                                                      \
    "smlald r5, r6, r7, r7\n"                                                                      \
    "smlad  r4, r12, r8, r4\n"                                                                     \
    "smlald r5, r6, r12, r12\n"
#define ADD_ONE CORTEXM_JOIN(ADD_ONE_, FROM)
#define ADD_ONE_s8                                                                                 \
    "add    r4, r7\n"                                                                              \
    "mla    r5, r7, r7, r5\n"
#define ADD_ONE_s16                                                                                \
    "add    r4, r7\n"                                                                              \
    "smlal  r5, r6, r7, r7\n"

/* What becomes of the codes in r0 and another register, with the factors and offsets of both, of one, and of a
 * channel. The upper bytes of r5, where a shift does not look, count. */
#define FIRST_OF(x) "mla    " x ", " x ", r2, r3\n"
#define OF_TWO CORTEXM_JOIN(OF_TWO_, ISA)
#define OF_TWO_v7m                                                                                 \
    "smull  r12, r0, r0, r4\n"                                                                     \
    "smull  r12, r1, r1, r4\n"                                                                     \
    "smull  r12, r0, r0, r10\n"                                                                    \
    "smull  r12, r1, r1, r11\n"                                                                    \
    "ldrd   r10, r11, [r7], #8\n"                                                                  \
    "add    r0, r10\n"                                                                             \
    "add    r1, r11\n"
#define OF_TWO_dsp                                                                                 \
    "ldrd   r12, lr, [r7], #8\n"                                                                   \
    "smmul  r0, r0, r4\n"                                                                          \
    "smmul  r1, r1, r4\n"                                                                          \
    "smmla  r0, r0, r10, r12\n"                                                                    \
    "smmla  r1, r1, r11, lr\n"
#define OF_ONE CORTEXM_JOIN(OF_ONE_, ISA)
#define OF_ONE_v7m                                                                                 \
    "smull  lr, r0, r0, r4\n"                                                                      \
    "smull  lr, r0, r0, r1\n"                                                                      \
    "ldr    lr, [r7]\n"                                                                            \
    "add    r0, lr\n"
#define OF_ONE_dsp                                                                                 \
    "ldr    lr, [r7]\n"                                                                            \
    "smmul  r0, r0, r4\n"                                                                          \
    "smmla  r0, r0, r1, lr\n"
#define OF_CHANNEL CORTEXM_JOIN(OF_CHANNEL_, ISA)
#define OF_CHANNEL_v7m                                                                             \
    "smull  r7, r0, r0, r4\n"                                                                      \
    "smull  r7, r12, r12, r4\n"                                                                    \
    "smull  r7, r0, r0, r1\n"                                                                      \
    "smull  r7, r12, r12, r1\n"                                                                    \
    "add    r0, lr\n"                                                                              \
    "add    r12, lr\n"
#define OF_CHANNEL_dsp                                                                             \
    "smmul  r0, r0, r4\n"                                                                          \
    "smmul  r12, r12, r4\n"                                                                        \
    "smmla  r0, r0, r1, lr\n"                                                                      \
    "smmla  r12, r12, r1, lr\n"
#define SHIFTED(x) "asr    " x ", " x ", r5\n"
#define LIMITED(x) "ssat   " x ", " BITS ", " x "\n"

/* Two codes, in one piece from r8 to r9. */
#define CODES_OF_TWO                                                                               \
    LOAD "r1, [r8, " SIZE "]\n" LOAD "r0, [r8], " SIZE_OF_TWO "\n"                                 \
    "ldrd   r10, r11, [r6], #8\n" FIRST_OF("r0") FIRST_OF("r1") OF_TWO                             \
    SHIFTED("r0") SHIFTED("r1") LIMITED("r0") LIMITED("r1")                                        \
    STORE "r1, [r9, " SIZE "]\n" STORE "r0, [r9], " SIZE_OF_TWO "\n"

#endif
