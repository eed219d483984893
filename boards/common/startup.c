/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From reset to main() on any Cortex-M: vector table, floating point, stack, .data and .bss.
 */
#include <stddef.h>
#include <stdint.h>

#include "board_internal.h"

extern uint8_t __stack_top[], __stack_limit[];
extern uint32_t __data_start[], __data_end[], __bss_start[], __bss_end[];
extern const uint32_t __data_load[];
extern void (*const __init_array_start[])(void);
extern void (*const __init_array_end[])(void);

int main(void);
void board_reset(void);
void board_start(void) __attribute__((noreturn, used));
void board_fault(uint32_t exception, const uint32_t *frame) __attribute__((noreturn, used));
static void fault_handler(void);

/* System exceptions only: the boards use no interrupt but SysTick. */
__attribute__((section(".vectors"), used)) static const struct {
    void *stack;
    void (*handlers[15])(void);
} vectors = {
    __stack_top,
    {
        board_reset,
        fault_handler,         /* NMI */
        fault_handler,         /* HardFault */
        fault_handler,         /* MemManage */
        fault_handler,         /* BusFault */
        fault_handler,         /* UsageFault */
        fault_handler,         /* SecureFault */
        NULL,
        NULL,
        NULL,
        fault_handler,         /* SVCall */
        fault_handler,         /* DebugMonitor */
        NULL,
        fault_handler,         /* PendSV */
        board_systick_handler, /* SysTick */
    },
};

/* In assembler because a compiler may use vector registers anywhere once it may use them at all:
 * the coprocessors must be on (CPACR: full access to CP10 and CP11) before the first line of C. */
BOARD_NAKED void board_reset(void)
{
    __asm volatile(
        ".syntax unified\n"
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
        "ldr  r0, =0xE000ED88\n"
        "ldr  r1, [r0]\n"
        "ldr  r2, =0x00F00000\n"
        "orrs r1, r2\n"
        "str  r1, [r0]\n"
        "dsb\n"
        "isb\n"
#endif
#if __ARM_ARCH >= 8 && defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
        "ldr  r0, =__stack_limit\n"
        "msr  msplim, r0\n"
#endif
        "ldr  r0, =__stack_top\n"
        "mov  sp, r0\n"
        "bl   board_start\n"
        ".ltorg\n");
}

#ifdef BOARD_CYCLES
/* Clocks, wait states and caches stay as reset leaves them, unless there is another one. */
__attribute__((weak)) void board_setup(void)
{
}
#endif

void board_start(void)
{
#ifdef BOARD_CYCLES
    /* A chip may begin with another image's vectors, or a loader's. Cores without VTOR ignore it. */
    *(volatile uint32_t *)(uintptr_t)0xE000ED08U = (uint32_t)(uintptr_t)&vectors;
#endif
    /* Loops instead of memcpy and memset: those need not be linked into every image. `volatile` keeps
     * the compiler from turning the loops back into calls. */
    const uint32_t *from = __data_load;
    for (volatile uint32_t *to = __data_start; to != __data_end; to++) {
        *to = *from++;
    }
    for (volatile uint32_t *to = __bss_start; to != __bss_end; to++) {
        *to = 0U;
    }
#ifdef BOARD_CYCLES
    board_setup();
#endif
    board_measure_init();
    for (void (*const *made)(void) = __init_array_start; made != __init_array_end; made++) {
        (*made)();
    }
    board_exit(main());
}

/* The stack may be what is broken: where little or nothing of it is left, it starts anew. Else it goes on
 * below the frame of the fault, which stays whole. */
BOARD_NAKED static void fault_handler(void)
{
    __asm volatile(
        "mrs  r0, ipsr\n"
        "mrs  r1, msp\n"
        "ldr  r2, =__stack_top\n"
        "cmp  r1, r2\n"
        "bhi  1f\n"
        "ldr  r3, =__stack_limit + 256\n"
        "cmp  r1, r3\n"
        "bhs  2f\n"
        "1:\n"
        "mov  sp, r2\n"
        "2:\n"
        "ldr  r2, =board_fault\n"
        "bx   r2\n"
        ".ltorg\n");
}

static void write_hex(const char *name, uint32_t value)
{
    char text[9];

    for (size_t i = 0; i < 8U; i++) {
        const uint32_t digit = value >> 28;
        text[i] = (char)(digit + (digit < 10U ? (uint32_t)'0' : (uint32_t)'a' - 10U));
        value <<= 4;
    }
    text[8] = '\0';
    board_write(name);
    board_write(text);
}

void board_fault(uint32_t exception, const uint32_t *frame)
{
    /* From exception 2 on; the last one is for all others. */
    const char *name = "NMI\0HardFault\0MemManage\0BusFault\0UsageFault\0SecureFault\0unexpected exception";
    for (uint32_t before = exception < 8U ? exception : 8U; before > 2U; before--) {
        while (*name++ != '\0') {
        }
    }
    board_write("\nerror: ");
    board_write(name);
    if ((const uint8_t *)frame >= __stack_limit && (const uint8_t *)frame < __stack_top) {
        write_hex(" at 0x", frame[6]);
    } else {
        board_write(", the stack has overflowed");
    }
#if __ARM_ARCH >= 7
    const uint32_t status = *(const volatile uint32_t *)(uintptr_t)0xE000ED28U;
    write_hex(", CFSR 0x", status);
    if ((status & (1UL << 20)) != 0U) { /* UFSR.STKOF */
        board_write(", the stack has overflowed");
    }
#endif
    board_write("\n");
    board_exit(2);
}
