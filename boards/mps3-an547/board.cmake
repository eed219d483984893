# SPDX-License-Identifier: Apache-2.0
# Arm MPS3 FPGA board with image AN547 (Corstone-300): Cortex-M55 with FPU and MVE.
set(CORTEXM_BOARD_CPU cortex-m55)
set(CORTEXM_BOARD_CLOCK_HZ 32000000) # of SysTick, as QEMU models it
set(CORTEXM_BOARD_MACHINE mps3-an547)
set(CORTEXM_BOARD_REGIONS sram=4M dtcm=448K:fast ddr4=64M:weights)
