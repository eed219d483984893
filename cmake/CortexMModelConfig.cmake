# SPDX-License-Identifier: Apache-2.0
# find_package(CortexMModel). The same file serves a checkout, an installed tree and the Python wheel.
# Called before project(), with CORTEXM_BOARD (or CORTEXM_CPU) set, it also selects the toolchain.
include("${CMAKE_CURRENT_LIST_DIR}/CortexMModel.cmake")

# What is generated is C: a project all in C++ need not say so.
if(PROJECT_NAME)
  include("${CMAKE_CURRENT_LIST_DIR}/CortexMLanguage.cmake")
elseif(NOT CMAKE_PROJECT_INCLUDE)
  set(CMAKE_PROJECT_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/CortexMLanguage.cmake")
elseif(CMAKE_VERSION VERSION_GREATER_EQUAL 3.29)
  list(APPEND CMAKE_PROJECT_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/CortexMLanguage.cmake")
endif()
