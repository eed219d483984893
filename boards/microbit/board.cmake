# SPDX-License-Identifier: Apache-2.0
# BBC micro:bit (nRF51822): Cortex-M0, 256 KB of flash, 16 KB of RAM.
set(CORTEXM_BOARD_CPU cortex-m0)
set(CORTEXM_BOARD_CLOCK_HZ 16000000) # of SysTick, as QEMU models it
set(CORTEXM_BOARD_MACHINE microbit)
set(CORTEXM_BOARD_REGIONS sram=14K flash=200K:weights)
