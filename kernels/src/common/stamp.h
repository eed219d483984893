/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a template (.inc) makes of the macros that a stamp defines before it. A stamp is the source file
 * of one kernel, generated from a row of kernels.json; behind short_names.h it includes this and defines
 *   OP         what the kernel computes, e.g. clamp
 *   TYPES      its element types, e.g. f32 or s8f32
 *   FROM, TO   the types of operand and result: both TYPES, or its two halves
 *   ISA        the last part of its name, e.g. scalar
 *   PARAMS     its parameter struct
 *   CORTEXM_IS_clamp, CORTEXM_IS_f32 (of OP and FROM), for templates whose kernels differ in an expression
 */
#ifndef CORTEXM_COMMON_STAMP_H
#define CORTEXM_COMMON_STAMP_H

#include <stdint.h>

/* Projects that ask for these warnings mean other code: functions that objects share (CORTEXM_SHARED) have no
 * declaration but their definition, and floats are compared for being equal where equal is meant. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"
#pragma GCC diagnostic ignored "-Wfloat-equal"
#endif

/*
 * A function that is assembly from its first instruction to the last, which returns by itself. GCC puts
 * the guard of -fstack-protector-all in front of it all the same, in the stack of its caller; clang allows
 * no other statement in it, and GCC wants to see every argument used.
 */
#if defined __has_attribute
#if __has_attribute(no_stack_protector)
#define CORTEXM_UNGUARDED , no_stack_protector
#endif
#endif
#ifndef CORTEXM_UNGUARDED
#define CORTEXM_UNGUARDED
#endif
#define CORTEXM_NAKED __attribute__((naked, noinline, unused CORTEXM_UNGUARDED))
#if defined __clang__
#define CORTEXM_TAKES(argument)
#else
#define CORTEXM_TAKES(argument) (void)(argument)
#endif

/* Functions that stay functions: merged into a larger one, a loop would lose its registers.
 *
 * static CORTEXM_APART: one in each object. CORTEXM_SHARED, not static: objects that have it share one;
 * the linker keeps the first and drops the sections of the others. */
#if defined(__GNUC__)
#define CORTEXM_APART __attribute__((noinline, unused))
#define CORTEXM_SHARED __attribute__((noinline, weak))
#else
#define CORTEXM_APART
#define CORTEXM_SHARED static
#endif

/* Nor have these copies for one value of an argument, whose stacks could not be told apart. */
#if defined __has_attribute
#if __has_attribute(noclone)
#define CORTEXM_UNCLONED __attribute__((noclone))
#endif
#endif
#ifndef CORTEXM_UNCLONED
#define CORTEXM_UNCLONED
#endif

/* Pastes names after macros in them are expanded. */
#define CORTEXM_JOIN(a, b) CORTEXM_PASTE(a, b)
#define CORTEXM_PASTE(a, b) a##b
#define CORTEXM_NAME(op, types, isa) CORTEXM_PASTE_NAME(op, types, isa)
#define CORTEXM_PASTE_NAME(op, types, isa) cortexm_##op##_##types##_##isa

/* The kernel's name, and the C types of its elements. */
#define KERNEL CORTEXM_NAME(OP, TYPES, ISA)
#define ELEMENT CORTEXM_JOIN(CORTEXM_TYPE_, FROM)
#define RESULT CORTEXM_JOIN(CORTEXM_TYPE_, TO)

/* A path as a string. Templates that serve several instruction sets include each one's own routines by it,
 * "../common/ISA.h" as seen from the folder of a family. */
#define CORTEXM_QUOTE(path) CORTEXM_QUOTE_PATH(path)
#define CORTEXM_QUOTE_PATH(path) #path

/* The high product of cortexm/requantize.h as the instruction set multiplies. */
#define CORTEXM_HIGH_MUL CORTEXM_JOIN(CORTEXM_HIGH_MUL_, ISA)
#define CORTEXM_HIGH_MUL_scalar cortexm_high_mul_wide
#define CORTEXM_HIGH_MUL_v6m cortexm_high_mul_narrow
#define CORTEXM_HIGH_MUL_v7m cortexm_high_mul_wide
#define CORTEXM_HIGH_MUL_dsp cortexm_high_mul_wide
#define CORTEXM_HIGH_MUL_mve cortexm_high_mul_wide
#define CORTEXM_HIGH_MUL_cmsis_nn cortexm_high_mul_wide

/* Bits of a code, and of a weight, which is what TO stands for where TYPES are activations and weights:
 * s8, s8w4 or s16, whose weights are int8. */
#define CODE_BITS CORTEXM_JOIN(CORTEXM_CODE_BITS_, FROM)
#define CORTEXM_CODE_BITS_s8 8
#define CORTEXM_CODE_BITS_s16 16
#define WEIGHT_BITS CORTEXM_JOIN(CORTEXM_BITS_, TO)
#define CORTEXM_BITS_s8 8
#define CORTEXM_BITS_s16 8
#define CORTEXM_BITS_w4 4
#define CORTEXM_BITS_f32 32

/* A multiplier per channel as it is stored, and that of int8 codes in Q31: of weights of 4 bits the lower
 * half is 0, and is left out. */
#define MULTIPLIER CORTEXM_JOIN(CORTEXM_MULTIPLIER_, TYPES)
#define CORTEXM_MULTIPLIER_s8 int32_t
#define CORTEXM_MULTIPLIER_s8w4 int16_t
#define CORTEXM_MULTIPLIER_s16 int16_t
#define CORTEXM_MULTIPLIER_s16w4 int16_t
#define CORTEXM_Q31(multiplier) ((int32_t)(multiplier) * (WEIGHT_BITS == 4 ? 1 << 16 : 1))

#define CORTEXM_TYPE_s8 int8_t
#define CORTEXM_TYPE_s16 int16_t
#define CORTEXM_TYPE_s32 int32_t
#define CORTEXM_TYPE_s64 int64_t
#define CORTEXM_TYPE_u8 uint8_t
#define CORTEXM_TYPE_f32 float

/* Elements that are moved without looking at their type, e.g. floats as 4 bytes. may_alias: the
 * compiler must not conclude from these types that no float lies there. */
typedef uint8_t cortexm_x8_t;
typedef uint16_t __attribute__((may_alias)) cortexm_x16_t;
typedef uint32_t __attribute__((may_alias)) cortexm_x32_t;
typedef uint64_t __attribute__((may_alias)) cortexm_x64_t;

#define CORTEXM_TYPE_x8 cortexm_x8_t
#define CORTEXM_TYPE_x16 cortexm_x16_t
#define CORTEXM_TYPE_x32 cortexm_x32_t
#define CORTEXM_TYPE_x64 cortexm_x64_t

/* Whether x takes the place of the extreme element so far: the first of equal ones stays, and the first
 * NaN wins over everything. For integers the tests for NaN are constant and vanish. */
#define CORTEXM_IS_NAN(x) ((x) != (x))
#define CORTEXM_ABOVE(x, best) ((x) > (best) || (CORTEXM_IS_NAN(x) && !CORTEXM_IS_NAN(best)))
#define CORTEXM_BELOW(x, best) ((x) < (best) || (CORTEXM_IS_NAN(x) && !CORTEXM_IS_NAN(best)))

/* What the assembly of Armv6-M repeats: of its registers most instructions take r0 to r7 alone, and the
 * others are stored, loaded and computed on by way of these. r4 … r7 = r8 … r11, and back: */
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
