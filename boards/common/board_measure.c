/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions by the clock, stack by paint.
 *
 * QEMU with `-icount shift=0` advances virtual time by 1 ns per instruction, and every board here has
 * a SysTick timer on a known clock of 16 to 32 MHz, so time measures instructions, in steps of 30 to
 * 60. To see finer, a measurement begins on the edge of a tick and, when the measured call is over,
 * counts how many turns of a loop of four instructions the next edge is away. Both ends are then
 * known to one turn, and what the measurement itself takes is found by measuring nothing once.
 */
#include "board_internal.h"

#define PAINT 0xC5C5C5C5U

extern uint32_t __stack_limit[], __stack_top[];

static int32_t overhead;  /* what measuring itself counts */
static size_t high_water; /* bytes of stack */

/* What else a measured call leaves: the stack pointer before it, and its result. */
typedef struct {
    uint32_t *base;
    int result;
} call_t;

static inline uint32_t *stack_pointer(void)
{
    uint32_t *sp;

    __asm volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

#ifdef BOARD_CYCLES

/* On silicon: cycles, by a counter of the core (cycles.c). */
static int64_t time_call(int (*run)(void *), void *context, call_t *call)
{
    const uint64_t start = board_ticks();

    call->base = stack_pointer();
    call->result = run(context);
    return (int64_t)(board_ticks() - start);
}

#else

#ifndef BOARD_CLOCK_HZ
#error "BOARD_CLOCK_HZ must be the frequency of SysTick; boards/<board>/board.json says it"
#endif

#define SYST_CSR (*(volatile uint32_t *)(uintptr_t)0xE000E010U)
#define SYST_RVR (*(volatile uint32_t *)(uintptr_t)0xE000E014U)
#define SYST_CVR (*(volatile uint32_t *)(uintptr_t)0xE000E018U)
#define RELOAD 0x00FFFFFFU

static volatile uint32_t wraps;

void board_clock_init(void)
{
    SYST_RVR = RELOAD;
    SYST_CVR = 0U;
    SYST_CSR = 7U; /* processor clock, interrupt, enable */
}

void board_systick_handler(void)
{
    wraps = wraps + 1U;
}

uint64_t board_ticks(void)
{
    uint32_t high, low;

    do {
        high = wraps;
        low = ~SYST_CVR & RELOAD; /* it counts down */
    } while (high != wraps);
    return (uint64_t)high << 24 | low;
}

/* Waits for the next edge of the clock; returns the turns of four instructions that it took. */
BOARD_NAKED static uint32_t wait_edge(void)
{
    __asm volatile(
        ".syntax unified\n"
        "ldr  r3, =0xE000E018\n"
        "movs r0, #0\n"
        "ldr  r1, [r3]\n"
        "1:\n"
        "adds r0, #1\n"
        "ldr  r2, [r3]\n"
        "cmp  r2, r1\n"
        "beq  1b\n"
        "bx   lr\n"
        ".ltorg\n");
}

static int64_t time_call(int (*run)(void *), void *context, call_t *call)
{
    const uint64_t per_tick_256 = (256ULL * 1000000000ULL + BOARD_CLOCK_HZ / 2U) / BOARD_CLOCK_HZ;

    (void)wait_edge();
    const uint64_t start = board_ticks();
    call->base = stack_pointer();
    call->result = run(context);
    const uint32_t turns = wait_edge();
    const uint64_t elapsed = ((board_ticks() - start) * per_tick_256 + 128U) / 256U;
    return (int64_t)(elapsed - 4ULL * turns);
}

#endif

static int nothing(void *context)
{
    (void)context;
    return 0;
}

/* From below this function's own frame down to the end of the stack. */
static void paint(void)
{
    volatile uint32_t *word = stack_pointer() - 16;

    do {
        *--word = PAINT;
    } while (word != __stack_limit);
}

/* The bytes of stack in use at the deepest point since it was painted. Its first word is no paint. */
static size_t depth(void)
{
    const uint32_t *word = __stack_limit;

    while (*word == PAINT) {
        word++;
    }
    const size_t bytes = (size_t)(__stack_top - word) * sizeof(uint32_t);

    high_water = bytes > high_water ? bytes : high_water;
    return bytes;
}

void board_measure_init(void)
{
    paint();
    board_clock_init();
}

board_measurement_t board_measure(int (*run)(void *context), void *context)
{
    board_measurement_t measured;
    call_t call;

    if (overhead == 0) {
        overhead = (int32_t)time_call(nothing, NULL, &call);
    }
    (void)depth();
    paint();
    const int64_t count = time_call(run, context, &call) - overhead;
    const size_t before = (size_t)(__stack_top - call.base) * sizeof(uint32_t);
    const size_t deepest = depth();

    measured.count = count > 0 ? (uint64_t)count : 0U;
    measured.stack_bytes = deepest > before ? deepest - before : 0U;
    measured.result = call.result;
    return measured;
}

size_t board_stack_high_water(void)
{
    (void)depth();
    return high_water;
}

size_t board_stack_size(void)
{
    return (size_t)(__stack_top - __stack_limit) * sizeof(uint32_t);
}
