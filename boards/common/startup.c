/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From reset to main() on any Cortex-M: vector table, floating point, stack, .data and .bss.
 */
#include <stddef.h>
#include <stdint.h>

#include "board_internal.h"

extern uint8_t __stack_top[];
extern uint8_t __data_start[], __data_end[], __bss_start[], __bss_end[];
extern const uint8_t __data_load[];
extern void (*const __init_array_start[])(void);
extern void (*const __init_array_end[])(void);

int main(void);
void board_reset(void);
void board_start(void) __attribute__((noreturn, used));
void board_fault(uint32_t exception, const uint32_t *frame) __attribute__((noreturn, used));
static void fault_handler(void);

/* System exceptions only: the boards use no interrupt but SysTick. */
__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    __stack_top,
    (void *)board_reset,
    (void *)fault_handler,         /* NMI */
    (void *)fault_handler,         /* HardFault */
    (void *)fault_handler,         /* MemManage */
    (void *)fault_handler,         /* BusFault */
    (void *)fault_handler,         /* UsageFault */
    (void *)fault_handler,         /* SecureFault */
    NULL,
    NULL,
    NULL,
    (void *)fault_handler,         /* SVCall */
    (void *)fault_handler,         /* DebugMonitor */
    NULL,
    (void *)fault_handler,         /* PendSV */
    (void *)board_systick_handler, /* SysTick */
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
        "ldr  r0, =board_start\n"
        "bx   r0\n"
        ".ltorg\n");
}

/* Loops instead of memcpy and memset: those need not be linked into every image. `volatile` keeps
 * the compiler from turning the loops back into calls. */
static void copy(uint8_t *to, const uint8_t *from, size_t size)
{
    volatile uint32_t *out = (volatile uint32_t *)(void *)to;
    const uint32_t *in = (const uint32_t *)(const void *)from;

    for (size_t i = 0; i < size / sizeof(uint32_t); i++) {
        out[i] = in[i];
    }
}

static void clear(uint8_t *to, size_t size)
{
    volatile uint32_t *out = (volatile uint32_t *)(void *)to;

    for (size_t i = 0; i < size / sizeof(uint32_t); i++) {
        out[i] = 0U;
    }
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
    *(volatile uint32_t *)(uintptr_t)0xE000ED08U = (uint32_t)(uintptr_t)vectors;
#endif
    copy(__data_start, __data_load, (size_t)(__data_end - __data_start));
    clear(__bss_start, (size_t)(__bss_end - __bss_start));
#ifdef BOARD_CYCLES
    board_setup();
#endif
    board_measure_init();
    for (size_t i = 0; &__init_array_start[i] < __init_array_end; i++) {
        __init_array_start[i]();
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
        text[i] = "0123456789abcdef"[(value >> (28U - 4U * i)) & 15U];
    }
    text[8] = '\0';
    board_write(name);
    board_write(text);
}

void board_fault(uint32_t exception, const uint32_t *frame)
{
    static const char *const names[8] = {"Reset",     "Reset",    "NMI",        "HardFault",
                                         "MemManage", "BusFault", "UsageFault", "SecureFault"};
    extern uint8_t __stack_limit[];

    board_write("\nerror: ");
    board_write(exception < 8U ? names[exception] : "unexpected exception");
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
