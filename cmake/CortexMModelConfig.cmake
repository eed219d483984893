# SPDX-License-Identifier: Apache-2.0
# find_package(CortexMModel). The same file serves a checkout, an installed tree and the Python wheel.
# Called before project(), with CORTEXM_BOARD (or CORTEXM_CPU) set, it also selects the toolchain.
include("${CMAKE_CURRENT_LIST_DIR}/CortexMModel.cmake")
