/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of rows of int8 inputs with four outputs' weights at a time.
 *
 * Weights are packed as "fours" (python/cortexm_tools/plan/pack.py): outputs in blocks of four, each
 * block [k][4] bytes w + 128. Unsigned bytes with fixed offsets from one pointer are what every core
 * loads with one instruction. The sum of x * (w + 128) begins at -128 * (sum of x), so it ends as
 * the sum of x * w.
 */
#ifndef CORTEXM_COMMON_FOURS_H
#define CORTEXM_COMMON_FOURS_H

#include <stdint.h>

/* Whether the core has registers for two rows at once: all but Armv6-M and Armv8-M Baseline. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
#define CORTEXM_TWO_ROWS 0
#else
#define CORTEXM_TWO_ROWS 1
#endif

/* -128 * sum of x[0..n) */
static inline int32_t cortexm_fours_start(const int8_t *x, int32_t n)
{
    const int8_t *const end = x + n;
    int32_t sum = 0;

    for (const int8_t *const fours = x + (n & ~3); x != fours; x += 4) {
        sum += x[0] + x[1] + x[2] + x[3];
    }
    while (x != end) {
        sum += *x++;
    }
    return sum * -128;
}

/* Adds a product now: the compiler would collect products and add them later, at one more each. */
#if defined(__GNUC__)
#define CORTEXM_ADD_NOW(sum, product)                                                              \
    do {                                                                                           \
        (sum) += (product);                                                                        \
        __asm__("" : "+r"(sum));                                                                   \
    } while (0)
#else
#define CORTEXM_ADD_NOW(sum, product) ((sum) += (product))
#endif

#define CORTEXM_ONE_ROW_STEP(k)                                                                    \
    do {                                                                                           \
        const int32_t value = x[k];                                                                \
        CORTEXM_ADD_NOW(sum0, value * w[4 * (k)]);                                                 \
        CORTEXM_ADD_NOW(sum1, value * w[4 * (k) + 1]);                                             \
        CORTEXM_ADD_NOW(sum2, value * w[4 * (k) + 2]);                                             \
        CORTEXM_ADD_NOW(sum3, value * w[4 * (k) + 3]);                                             \
    } while (0)

/* sum[o] = start + sum of x[k] * w[4 * k + o] */
static inline void cortexm_fours(const int8_t *x, const uint8_t *w, int32_t n, int32_t start,
                                 int32_t sum[4])
{
    const int8_t *end = x + (n & ~3);
    int32_t sum0 = start;
    int32_t sum1 = start;
    int32_t sum2 = start;
    int32_t sum3 = start;

    while (x != end) {
        CORTEXM_ONE_ROW_STEP(0);
        CORTEXM_ONE_ROW_STEP(1);
        CORTEXM_ONE_ROW_STEP(2);
        CORTEXM_ONE_ROW_STEP(3);
        x += 4;
        w += 16;
    }
    for (end += n & 3; x != end; ++x) {
        CORTEXM_ONE_ROW_STEP(0);
        w += 4;
    }
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}

#if !CORTEXM_TWO_ROWS

/* sum[o] += sum of x[k] * w[4 * k + o] for quads * 4 inputs and two blocks of outputs, whose weights
 * lie block_size bytes apart. Eight sums in registers, most of which only ADD and MOV can reach: the
 * compiler would not dare. */
__attribute__((naked, noinline, unused)) static void
cortexm_fours_two_blocks(const int8_t *x, const uint8_t *w, int32_t quads, int32_t *sum,
                         int32_t block_size)
{
    (void)x;
    (void)w;
    (void)quads;
    (void)sum;
    (void)block_size;
#define PRODUCT(pointer, offset, sum)                                                              \
    "ldrb r3, [" pointer ", #" offset "]\n"                                                        \
    "muls r3, r2\n"                                                                                \
    "add " sum ", r3\n"
#define STEP(k, k0, k1, k2, k3)                                                                    \
    "ldrb r2, [r0, #" k "]\n"                                                                      \
    "sxtb r2, r2\n"                                                                                \
    PRODUCT("r1", k0, "r6") PRODUCT("r1", k1, "r7") PRODUCT("r1", k2, "r8")                        \
    PRODUCT("r1", k3, "r9") PRODUCT("r4", k0, "r10") PRODUCT("r4", k1, "r11")                      \
    PRODUCT("r4", k2, "r12") PRODUCT("r4", k3, "lr")
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "push {r3, r4, r5, r6, r7}\n"
                     "ldr  r4, [sp, #40]\n"
                     "adds r4, r1, r4\n"
                     "lsls r2, r2, #2\n"
                     "adds r5, r0, r2\n"
                     "ldr  r2, [r3, #8]\n"
                     "mov  r8, r2\n"
                     "ldr  r2, [r3, #12]\n"
                     "mov  r9, r2\n"
                     "ldr  r2, [r3, #16]\n"
                     "mov  r10, r2\n"
                     "ldr  r2, [r3, #20]\n"
                     "mov  r11, r2\n"
                     "ldr  r2, [r3, #24]\n"
                     "mov  r12, r2\n"
                     "ldr  r2, [r3, #28]\n"
                     "mov  lr, r2\n"
                     "ldmia r3!, {r6, r7}\n"
                     "1:\n" STEP("0", "0", "1", "2", "3") STEP("1", "4", "5", "6", "7")
                         STEP("2", "8", "9", "10", "11") STEP("3", "12", "13", "14", "15")
                     "adds r0, #4\n"
                     "adds r1, #16\n"
                     "adds r4, #16\n"
                     "cmp  r0, r5\n"
                     "bne  1b\n"
                     "pop  {r3}\n"
                     "stmia r3!, {r6, r7}\n"
                     "mov  r4, r8\n"
                     "mov  r5, r9\n"
                     "mov  r6, r10\n"
                     "mov  r7, r11\n"
                     "stmia r3!, {r4, r5, r6, r7}\n"
                     "mov  r4, r12\n"
                     "mov  r5, lr\n"
                     "stmia r3!, {r4, r5}\n"
                     "pop  {r4, r5, r6, r7}\n"
                     "mov  r8, r4\n"
                     "mov  r9, r5\n"
                     "mov  r10, r6\n"
                     "mov  r11, r7\n"
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef STEP
#undef PRODUCT
}

#endif

#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2

/* As above, with fourteen registers. */
__attribute__((naked, noinline, unused)) static void
cortexm_fours_two_blocks(const int8_t *x, const uint8_t *w, int32_t quads, int32_t *sum,
                         int32_t block_size)
{
    (void)x;
    (void)w;
    (void)quads;
    (void)sum;
    (void)block_size;
#define PRODUCT(pointer, sum)                                                                      \
    "ldrb  lr, [" pointer "], #1\n"                                                                \
    "mla   " sum ", lr, r3, " sum "\n"
#define STEP                                                                                       \
    "ldrsb r3, [r0], #1\n" PRODUCT("r1", "r4") PRODUCT("r1", "r5") PRODUCT("r1", "r6")             \
        PRODUCT("r1", "r7") PRODUCT("r2", "r8") PRODUCT("r2", "r9") PRODUCT("r2", "r10")           \
        PRODUCT("r2", "r11")
    __asm__ volatile("push  {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "ldmia r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
                     "add   r12, r0, r2, lsl #2\n"
                     "ldr   r2, [sp, #40]\n"
                     "add   r2, r1\n"
                     "1:\n" STEP STEP STEP STEP
                     "cmp   r0, r12\n"
                     "bne   1b\n"
                     "pop   {r3}\n"
                     "stmia r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef STEP
#undef PRODUCT
}

/* sum[o] += sum of x[k] * w[4 * k + o], and sum[4 + o] likewise with y, for quads * 4 inputs. */
__attribute__((naked, noinline, unused)) static void
cortexm_fours_quads_of_two_rows(const int8_t *x, const int8_t *y, const uint8_t *w, int32_t quads,
                                int32_t *sum)
{
    (void)x;
    (void)y;
    (void)w;
    (void)quads;
    (void)sum;
#define PRODUCTS(first, second)                                                                    \
    "ldrb  lr, [r2], #1\n"                                                                         \
    "mla   " first ", lr, r3, " first "\n"                                                         \
    "mla   " second ", lr, r12, " second "\n"
#define STEP                                                                                       \
    "ldrsb r3, [r0], #1\n"                                                                         \
    "ldrsb r12, [r1], #1\n" PRODUCTS("r4", "r8") PRODUCTS("r5", "r9") PRODUCTS("r6", "r10")        \
        PRODUCTS("r7", "r11")
    __asm__ volatile("push  {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "ldr   r12, [sp, #36]\n"
                     "add   r3, r0, r3, lsl #2\n"
                     "push  {r3, r12}\n"
                     "ldmia r12, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
                     "1:\n" STEP STEP STEP STEP
                     "ldr   r3, [sp]\n"
                     "cmp   r0, r3\n"
                     "bne   1b\n"
                     "ldr   r12, [sp, #4]\n"
                     "stmia r12, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
                     "add   sp, #8\n"
                     "pop   {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef STEP
#undef PRODUCTS
}

#endif

#if defined(__ARM_ARCH_ISA_THUMB)

/* sum[o] and sum[4 + o] = start + sum of x[k] * w[4 * k + o] for two blocks of outputs */
static inline void cortexm_fours_eight(const int8_t *x, const uint8_t *w, int32_t n, int32_t start,
                                       int32_t sum[8])
{
    const int32_t done = n & ~3;

    for (int32_t i = 0; i < 8; ++i) {
        sum[i] = start;
    }
    if (done != 0) {
        cortexm_fours_two_blocks(x, w, done >> 2, sum, 4 * n);
    }
    for (int32_t k = done; k < n; ++k) {
        for (int32_t o = 0; o < 4; ++o) {
            sum[o] += x[k] * w[4 * k + o];
            sum[4 + o] += x[k] * w[4 * (n + k) + o];
        }
    }
}

#else

static inline void cortexm_fours_eight(const int8_t *x, const uint8_t *w, int32_t n, int32_t start,
                                       int32_t sum[8])
{
    cortexm_fours(x, w, n, start, sum);
    cortexm_fours(x, w + 4 * n, n, start, sum + 4);
}

#endif

#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2

/* cortexm_fours for two rows x and y, from start[0] and start[1]; y's sums are sum[4] to sum[7]. */
static inline void cortexm_fours_two_rows(const int8_t *x, const int8_t *y, const uint8_t *w,
                                          int32_t n, const int32_t start[2], int32_t sum[8])
{
    const int32_t done = n & ~3;

    for (int32_t o = 0; o < 4; ++o) {
        sum[o] = start[0];
        sum[4 + o] = start[1];
    }
    if (done != 0) {
        cortexm_fours_quads_of_two_rows(x, y, w, done >> 2, sum);
    }
    for (int32_t k = done; k < n; ++k) {
        for (int32_t o = 0; o < 4; ++o) {
            sum[o] += x[k] * w[4 * k + o];
            sum[4 + o] += y[k] * w[4 * k + o];
        }
    }
}

#else

#define CORTEXM_TWO_ROWS_STEP(k)                                                                   \
    do {                                                                                           \
        const int32_t value = x[k];                                                                \
        const int32_t next = y[k];                                                                 \
        int32_t weight = w[4 * (k)];                                                               \
        CORTEXM_ADD_NOW(sum0, value * weight);                                                     \
        CORTEXM_ADD_NOW(sum4, next * weight);                                                      \
        weight = w[4 * (k) + 1];                                                                   \
        CORTEXM_ADD_NOW(sum1, value * weight);                                                     \
        CORTEXM_ADD_NOW(sum5, next * weight);                                                      \
        weight = w[4 * (k) + 2];                                                                   \
        CORTEXM_ADD_NOW(sum2, value * weight);                                                     \
        CORTEXM_ADD_NOW(sum6, next * weight);                                                      \
        weight = w[4 * (k) + 3];                                                                   \
        CORTEXM_ADD_NOW(sum3, value * weight);                                                     \
        CORTEXM_ADD_NOW(sum7, next * weight);                                                      \
    } while (0)

/* cortexm_fours for two rows x and y, from start[0] and start[1]; y's sums are sum[4] to sum[7]. */
static inline void cortexm_fours_two_rows(const int8_t *x, const int8_t *y, const uint8_t *w,
                                          int32_t n, const int32_t start[2], int32_t sum[8])
{
    const int8_t *end = x + (n & ~3);
    int32_t sum0 = start[0];
    int32_t sum1 = start[0];
    int32_t sum2 = start[0];
    int32_t sum3 = start[0];
    int32_t sum4 = start[1];
    int32_t sum5 = start[1];
    int32_t sum6 = start[1];
    int32_t sum7 = start[1];

    while (x != end) {
        CORTEXM_TWO_ROWS_STEP(0);
        CORTEXM_TWO_ROWS_STEP(1);
        CORTEXM_TWO_ROWS_STEP(2);
        CORTEXM_TWO_ROWS_STEP(3);
        x += 4;
        y += 4;
        w += 16;
    }
    for (end += n & 3; x != end; ++x, ++y) {
        CORTEXM_TWO_ROWS_STEP(0);
        w += 4;
    }
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
    sum[4] = sum4;
    sum[5] = sum5;
    sum[6] = sum6;
    sum[7] = sum7;
}

#endif

#endif
