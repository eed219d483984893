# SPDX-License-Identifier: Apache-2.0
# Arm MPS2 FPGA board with image AN386: Cortex-M4 with FPU.
set(CORTEXM_BOARD_CPU cortex-m4)
set(CORTEXM_BOARD_CLOCK_HZ 25000000) # of SysTick, as QEMU models it
set(CORTEXM_BOARD_MACHINE mps2-an386)
set(CORTEXM_BOARD_REGIONS sram=4M psram=16M:weights)
