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

static uint32_t overhead;
static uint32_t *high_water;
static uint32_t *base; /* the stack pointer at the measured call */

static inline uint32_t *stack_pointer(void)
{
    uint32_t *sp;

    __asm volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

#ifdef BOARD_CYCLES

/* On silicon: cycles, by a counter of the core (cycles.c). */
static uint64_t time_call(int (*run)(void *), void *context, int *result)
{
    const uint64_t start = board_ticks();
    base = stack_pointer();
    *result = run(context);
    return board_ticks() - start;
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
        low = RELOAD - SYST_CVR;
    } while (high != wraps);
    return ((uint64_t)high << 24) + low;
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

static uint64_t time_call(int (*run)(void *), void *context, int *result)
{
    const uint64_t per_tick_256 = (256ULL * 1000000000ULL + BOARD_CLOCK_HZ / 2U) / BOARD_CLOCK_HZ;

    (void)wait_edge();
    const uint64_t start = board_ticks();
    base = stack_pointer();
    *result = run(context);
    const uint32_t turns = wait_edge();
    const uint64_t end = board_ticks();
    const uint64_t elapsed = ((end - start) * per_tick_256 + 128U) / 256U;
    return elapsed > 4ULL * turns ? elapsed - 4ULL * turns : 0U;
}

#endif

static int nothing(void *context)
{
    (void)context;
    return 0;
}

static void paint(void)
{
    uint32_t *const end = stack_pointer() - 16;

    for (volatile uint32_t *word = __stack_limit; word < end; word++) {
        *word = PAINT;
    }
}

static uint32_t *lowest_touched(void)
{
    uint32_t *word = __stack_limit;

    while (word < __stack_top && *word == PAINT) {
        word++;
    }
    return word;
}

void board_measure_init(void)
{
    paint();
    high_water = __stack_top;
    board_clock_init();
}

board_measurement_t board_measure(int (*run)(void *context), void *context)
{
    board_measurement_t measured = {0U, 0U, 0};

    if (overhead == 0U) {
        overhead = (uint32_t)time_call(nothing, NULL, &measured.result);
    }
    uint32_t *const deepest = lowest_touched();
    high_water = deepest < high_water ? deepest : high_water;

    paint();
    const uint64_t count = time_call(run, context, &measured.result);
    uint32_t *const after = lowest_touched();

    measured.count = count > overhead ? count - overhead : 0U;
    measured.stack_bytes = after < base ? (size_t)(base - after) * sizeof(uint32_t) : 0U;
    return measured;
}

size_t board_stack_high_water(void)
{
    uint32_t *const now = lowest_touched();
    uint32_t *const deepest = now < high_water ? now : high_water;

    return (size_t)(__stack_top - deepest) * sizeof(uint32_t);
}

size_t board_stack_size(void)
{
    return (size_t)(__stack_top - __stack_limit) * sizeof(uint32_t);
}
