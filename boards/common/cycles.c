/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles on silicon, by the best counter that there is: the PMU's of Armv8.1-M, DWT's CYCCNT, SysTick.
 * A counter is taken if it counts: registers that are not there read as zero, and emulators have the
 * registers of none but SysTick. `board_counter` tells the debugger which it is.
 *
 * Registers: Armv6-M, Armv7-M and Armv8-M architecture reference manuals.
 */
#include "board_internal.h"

#ifndef REG /* tests have registers of their own */
#define REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
#endif
#define SYST_CSR REG(0xE000E010U)
#define SYST_RVR REG(0xE000E014U)
#define SYST_CVR REG(0xE000E018U)
#define CPUID REG(0xE000ED00U)
#define DEMCR REG(0xE000EDFCU)
#define DEMCR_TRCENA (1UL << 24)
#define DWT_CTRL REG(0xE0001000U)
#define DWT_CTRL_NOCYCCNT (1UL << 25)
#define DWT_CYCCNT REG(0xE0001004U)
#define DWT_LAR REG(0xE0001FB0U) /* CoreSight lock, which some M7 have closed */
#define PMU_CCNTR REG(0xE000307CU)
#define PMU_CNTENSET REG(0xE0003C00U)
#define PMU_CTRL REG(0xE0003E04U)
#define RELOAD 0x00FFFFFFU

enum { COUNTER_NONE, COUNTER_SYSTICK, COUNTER_DWT, COUNTER_PMU };

extern volatile uint32_t board_counter, board_wraps;
volatile uint32_t board_counter; /* one of these */
volatile uint32_t board_wraps;   /* of SysTick, which goes round in 2^24 cycles */

static uint32_t last, high; /* of a counter of 32 bits */

static uint32_t read_counter(uint32_t counter)
{
    switch (counter) {
    case COUNTER_PMU:
        return PMU_CCNTR;
    case COUNTER_DWT:
        return DWT_CYCCNT;
    default:
        return SYST_CVR;
    }
}

static int is_counting(uint32_t counter)
{
    const uint32_t before = read_counter(counter);
    /* SysTick takes a while to begin where an emulator has another thread do it. */
    const uint32_t turns = counter == COUNTER_SYSTICK ? 1UL << 18 : 64U;

    for (uint32_t turn = 0; turn < turns; turn++) {
        if (read_counter(counter) != before) {
            return 1;
        }
    }
    return 0;
}

#if __ARM_ARCH_ISA_THUMB == 2
/* The cores of Armv8.1-M. GCC has no macro for the architecture, and elsewhere the registers are reserved. */
static int has_pmu(void)
{
    const uint32_t part = CPUID >> 4 & 0xFFFU;

    return part == 0xD22U || part == 0xD23U || part == 0xD24U; /* M55, M85, M52 */
}
#endif

static uint32_t find_counter(void)
{
#if __ARM_ARCH_ISA_THUMB == 2 /* not Armv6-M and the Armv8-M Baseline */
    DEMCR |= DEMCR_TRCENA;
    if (has_pmu()) {
        PMU_CNTENSET = 1UL << 31;
        PMU_CTRL |= 1U;
        if (is_counting(COUNTER_PMU)) {
            return COUNTER_PMU;
        }
    }
#if __ARM_ARCH == 7
    DWT_LAR = 0xC5ACCE55U;
#endif
    DWT_CTRL |= 1U;
    if ((DWT_CTRL & DWT_CTRL_NOCYCCNT) == 0U && is_counting(COUNTER_DWT)) {
        return COUNTER_DWT;
    }
#endif
    return is_counting(COUNTER_SYSTICK) ? COUNTER_SYSTICK : COUNTER_NONE;
}

void board_clock_init(void)
{
    SYST_RVR = RELOAD;
    SYST_CVR = 0U;
    SYST_CSR = 7U; /* processor clock, interrupt, enable */
    board_counter = find_counter();
}

/* SysTick interrupts some 400 times before a counter of 32 bits goes round. */
void board_systick_handler(void)
{
    board_wraps = board_wraps + 1U;
    if (board_counter > COUNTER_SYSTICK) {
        (void)board_ticks();
    }
}

static uint64_t ticks_of_systick(void)
{
    uint32_t wraps, low;

    do {
        wraps = board_wraps;
        low = RELOAD - SYST_CVR;
    } while (wraps != board_wraps);
    return ((uint64_t)wraps << 24) + low;
}

static uint64_t ticks_of_32_bits(void)
{
    uint32_t masked;

    __asm volatile("mrs %0, primask\n cpsid i" : "=r"(masked) : : "memory");
    const uint32_t now = read_counter(board_counter);

    high += now < last;
    last = now;
    const uint64_t ticks = ((uint64_t)high << 32) | now;

    __asm volatile("msr primask, %0" : : "r"(masked) : "memory");
    return ticks;
}

uint64_t board_ticks(void)
{
    switch (board_counter) {
    case COUNTER_PMU:
    case COUNTER_DWT:
        return ticks_of_32_bits();
    case COUNTER_SYSTICK:
        return ticks_of_systick();
    default:
        return 0U;
    }
}
