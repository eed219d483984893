# SPDX-License-Identifier: Apache-2.0
# Arm MPS2+ FPGA board with image AN505: Cortex-M33 with FPU and DSP.
set(CORTEXM_BOARD_CPU cortex-m33)
set(CORTEXM_BOARD_CLOCK_HZ 20000000) # of SysTick, as QEMU models it
set(CORTEXM_BOARD_MACHINE mps2-an505)
set(CORTEXM_BOARD_REGIONS sram=4M dram=16M:weights)
