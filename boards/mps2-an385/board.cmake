# SPDX-License-Identifier: Apache-2.0
# Arm MPS2 FPGA board with image AN385: Cortex-M3.
set(CORTEXM_BOARD_CPU cortex-m3)
set(CORTEXM_BOARD_CLOCK_HZ 25000000) # of SysTick, as QEMU models it
set(CORTEXM_BOARD_MACHINE mps2-an385)
set(CORTEXM_BOARD_REGIONS sram=4M psram=16M:weights)
