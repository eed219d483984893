/* SPDX-License-Identifier: Apache-2.0 */
/* What the assembly of Armv6-M repeats: of its registers most instructions take r0 to r7 alone, and the
 * others are stored, loaded and computed on by way of these. */
#ifndef CORTEXM_COMMON_THUMB1_H
#define CORTEXM_COMMON_THUMB1_H

/* r4 … r7 = r8 … r11, and back. */
#define CORTEXM_HIGH_TO_LOW                                                                        \
    "mov  r4, r8\n"                                                                                \
    "mov  r5, r9\n"                                                                                \
    "mov  r6, r10\n"                                                                               \
    "mov  r7, r11\n"
#define CORTEXM_LOW_TO_HIGH                                                                        \
    "mov  r8, r4\n"                                                                                \
    "mov  r9, r5\n"                                                                                \
    "mov  r10, r6\n"                                                                               \
    "mov  r11, r7\n"

#endif
