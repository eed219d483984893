# SPDX-License-Identifier: Apache-2.0
# Toolchain file for arm-none-eabi-gcc with newlib, or clang with the same. What it builds for:
#   CORTEXM_BOARD  an emulated board, see boards/
#   CORTEXM_CPU    a core, e.g. cortex-m4; default: the board's
#   CORTEXM_ISA    scalar, dsp or mve; default: the best the core has
#   CORTEXM_FLOAT_ABI  soft, softfp or hard; default: the core's
#   CORTEXM_TOOLCHAIN_PREFIX  e.g. /opt/gcc-arm/bin/arm-none-eabi-; default: found on PATH
#   CORTEXM_COMPILER  a clang, e.g. clang-19, to compile with and link by lld, with the C library of
#                     arm-none-eabi-gcc; default: the environment variable of that name, or GCC itself
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CORTEXM_BOARD CORTEXM_CPU CORTEXM_ISA
     CORTEXM_FLOAT_ABI CORTEXM_TOOLCHAIN_PREFIX CORTEXM_COMPILER)
# An executable cannot be linked before there is a linker script.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

include("${CMAKE_CURRENT_LIST_DIR}/CortexMCores.cmake")
if(CORTEXM_BOARD)
  cortexm_load_board("${CORTEXM_BOARD}")
  if(NOT CORTEXM_CPU)
    set(CORTEXM_CPU "${CORTEXM_BOARD_CPU}")
  endif()
endif()
if(NOT CORTEXM_CPU)
  message(FATAL_ERROR "no core to build for\nhint: pass -DCORTEXM_BOARD=<board> or -DCORTEXM_CPU=<core>")
endif()

if(NOT CORTEXM_TOOLCHAIN_PREFIX)
  set(CORTEXM_TOOLCHAIN_PREFIX arm-none-eabi-)
endif()
find_program(CORTEXM_GCC "${CORTEXM_TOOLCHAIN_PREFIX}gcc")
mark_as_advanced(CORTEXM_GCC)
if(NOT CORTEXM_GCC)
  message(
    FATAL_ERROR
      "the compiler ${CORTEXM_TOOLCHAIN_PREFIX}gcc was not found\n"
      "hint: install it (Debian: apt install gcc-arm-none-eabi libnewlib-arm-none-eabi) or set "
      "CORTEXM_TOOLCHAIN_PREFIX")
endif()
execute_process(
  COMMAND "${CORTEXM_GCC}" -print-file-name=nano.specs
  OUTPUT_VARIABLE _cortexm_nano
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT IS_ABSOLUTE "${_cortexm_nano}")
  message(
    FATAL_ERROR
      "${CORTEXM_GCC} has no C library (nano.specs is missing)\n"
      "hint: install newlib (Debian: apt install libnewlib-arm-none-eabi)")
endif()

# CMake keeps the flags of the first configuration, so another core needs another folder.
set(_cortexm_for "${CORTEXM_CPU} ${CORTEXM_ISA}")
if(DEFINED CACHE{CORTEXM_CONFIGURED_FOR} AND NOT "$CACHE{CORTEXM_CONFIGURED_FOR}" STREQUAL _cortexm_for)
  message(
    FATAL_ERROR
      "this build folder is configured for $CACHE{CORTEXM_CONFIGURED_FOR}, not for ${_cortexm_for}\n"
      "hint: use another build folder, or delete this one")
endif()
set(CORTEXM_CONFIGURED_FOR "${_cortexm_for}" CACHE INTERNAL "")

# What selects the core is part of the compiler: neither -DCMAKE_C_FLAGS=… nor set(CMAKE_C_FLAGS …) drops
# it. So is the C library, without which the image would get newlib's large one.
string(REGEX REPLACE "gcc(\\.exe)?$" "" _cortexm_prefix "${CORTEXM_GCC}")
cortexm_cpu_flags(_cortexm_flags "${CORTEXM_GCC}" "${CORTEXM_CPU}" "${CORTEXM_ISA}")
if(CORTEXM_FLOAT_ABI)
  list(FILTER _cortexm_flags EXCLUDE REGEX "^-mfloat-abi=")
  list(APPEND _cortexm_flags "-mfloat-abi=${CORTEXM_FLOAT_ABI}")
endif()
# An option that is there twice, with two values, makes GCC link the libraries for another core.
set(_cortexm_given "${CMAKE_C_FLAGS} $ENV{CFLAGS}")
foreach(_cortexm_option IN ITEMS -mcpu= -mfloat-abi= -mfpu=)
  string(FIND " ${_cortexm_given}" " ${_cortexm_option}" _cortexm_found)
  if(NOT _cortexm_found EQUAL -1)
    list(FILTER _cortexm_flags EXCLUDE REGEX "^${_cortexm_option}")
  endif()
endforeach()
set(_cortexm_sections -ffunction-sections -fdata-sections)
set(CMAKE_C_COMPILER "${CORTEXM_GCC}" ${_cortexm_flags} --specs=nano.specs ${_cortexm_sections})
set(CMAKE_CXX_COMPILER "${_cortexm_prefix}g++" ${_cortexm_flags} --specs=nano.specs ${_cortexm_sections}
    -fno-exceptions -fno-rtti -fno-threadsafe-statics)
set(CMAKE_ASM_COMPILER "${CORTEXM_GCC}" ${_cortexm_flags})
if(NOT CORTEXM_COMPILER)
  set(CORTEXM_COMPILER "$ENV{CORTEXM_COMPILER}")
endif()
if(CORTEXM_COMPILER)
  find_program(CORTEXM_CLANG "${CORTEXM_COMPILER}")
  mark_as_advanced(CORTEXM_CLANG)
  if(NOT CORTEXM_CLANG)
    message(FATAL_ERROR "the compiler ${CORTEXM_COMPILER} was not found\nhint: install it (Debian: apt install clang lld) or set CORTEXM_COMPILER to its path")
  endif()
  # newlib's headers and archives for the core, where GCC finds them; its own headers are not for clang.
  execute_process(
    COMMAND "${CORTEXM_GCC}" ${_cortexm_flags} --specs=nano.specs -E -v -x c /dev/null
    OUTPUT_QUIET ERROR_VARIABLE _cortexm_said)
  string(REGEX MATCH "search starts here:\n(.*)\nEnd of search" _cortexm_said "${_cortexm_said}")
  string(REGEX MATCHALL "\n [^\n]+" _cortexm_includes "${_cortexm_said}")
  list(TRANSFORM _cortexm_includes REPLACE "^\n " "")
  list(FILTER _cortexm_includes EXCLUDE REGEX "/lib/gcc/[^/]+/[^/]+/include(-fixed)?$")
  set(_cortexm_folders "")
  foreach(_cortexm_archive IN ITEMS libc_nano.a libgcc.a)
    execute_process(
      COMMAND "${CORTEXM_GCC}" ${_cortexm_flags} "-print-file-name=${_cortexm_archive}"
      OUTPUT_VARIABLE _cortexm_file
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(_cortexm_file "${_cortexm_file}" REALPATH)
    get_filename_component(_cortexm_file "${_cortexm_file}" DIRECTORY)
    list(APPEND _cortexm_folders "-L${_cortexm_file}")
  endforeach()
  set(_cortexm_system "")
  foreach(_cortexm_folder IN LISTS _cortexm_includes)
    list(APPEND _cortexm_system -isystem "${_cortexm_folder}")
  endforeach()
  set(_cortexm_clang --target=arm-none-eabi ${_cortexm_flags} ${_cortexm_sections} ${_cortexm_system}
      --start-no-unused-arguments -fuse-ld=lld -nodefaultlibs ${_cortexm_folders} --end-no-unused-arguments)
  set(CMAKE_C_COMPILER "${CORTEXM_CLANG}" ${_cortexm_clang})
  set(CMAKE_CXX_COMPILER "${CORTEXM_CLANG}" --driver-mode=g++ ${_cortexm_clang}
      -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  set(CMAKE_ASM_COMPILER "${CORTEXM_CLANG}" --target=arm-none-eabi ${_cortexm_flags})
  set(CMAKE_C_STANDARD_LIBRARIES_INIT "-Wl,--start-group -lc_nano -lm -lgcc -Wl,--end-group")
  set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "${CMAKE_C_STANDARD_LIBRARIES_INIT}")
  # What a model takes is measured by a link of GNU's linker, which can leave out what is not needed of
  # a part of a program.
  set(CORTEXM_TRIAL_LINK "${CORTEXM_GCC}" ${_cortexm_flags} --specs=nano.specs)
endif()
set(CMAKE_EXECUTABLE_SUFFIX_C .elf)
set(CMAKE_EXECUTABLE_SUFFIX_CXX .elf)
# CMake's Release is -O3, which costs flash without gain outside the kernels.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "")
endif()

# Libraries and headers of the build machine are of no use here, nor are the packages that Python
# wheels bring (executorch's own CMake package is one built for the host).
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
