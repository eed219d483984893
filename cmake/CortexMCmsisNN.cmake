# SPDX-License-Identifier: Apache-2.0
# KERNELS cmsis-nn and auto: finds CMSIS-NN, builds the adapters and checks for each model that the
# library needs no more memory than planned. Included by CortexMModel.cmake; functions only.
#
# An adapter for an operating system names its checkout in the GLOBAL property CORTEXM_PLATFORM_CMSIS_NN_ROOT,
# and in CORTEXM_PLATFORM_CMSIS_NN_HINT how to get one.

# Sets <out> to the target that is CMSIS-NN, or to nothing. A checkout becomes that target: the platform's, or
# the one that CMSIS_NN_ROOT names, a variable of CMake or of the environment.
function(_cortexm_find_cmsis_nn out)
  get_property(platform GLOBAL PROPERTY CORTEXM_PLATFORM)
  set(library "")
  if(TARGET cmsis-nn)
    set(library cmsis-nn)
  else()
    if(platform)
      get_property(checkout GLOBAL PROPERTY CORTEXM_PLATFORM_CMSIS_NN_ROOT)
    else()
      set(checkout "${CMSIS_NN_ROOT}")
      if(NOT checkout)
        set(checkout "$ENV{CMSIS_NN_ROOT}")
      endif()
    endif()
    if(checkout)
      if(NOT EXISTS "${checkout}/Include/arm_nnfunctions.h" OR NOT EXISTS "${checkout}/CMakeLists.txt")
        message(FATAL_ERROR "CMSIS_NN_ROOT: ${checkout} is not a checkout of CMSIS-NN\nhint: git clone https://github.com/ARM-software/CMSIS-NN, and give that folder")
      endif()
      add_subdirectory("${checkout}" "${CMAKE_BINARY_DIR}/cortexm-library/cmsis-nn" EXCLUDE_FROM_ALL)
      set(library cmsis-nn)
      if(platform)
        # With the platform's flags, and after them optimization and no warnings about sources of others.
        _cortexm_use_platform(cmsis-nn)
        get_target_property(sources cmsis-nn SOURCES)
        get_target_property(folder cmsis-nn SOURCE_DIR)
        list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/]")
        set_source_files_properties(
          ${sources} TARGET_DIRECTORY cmsis-nn PROPERTIES COMPILE_OPTIONS "-O2;-w")
      endif()
    endif()
  endif()
  set(${out} "${library}" PARENT_SCOPE)
endfunction()

# Sets <out> to what a model's KERNELS means here: builtin, or with CMSIS-NN present cmsis-nn or auto.
function(_cortexm_resolve_kernels out choice cpu)
  string(TOLOWER "${choice}" choice)
  cortexm_check_word("KERNELS" "${choice}" builtin cmsis-nn auto)
  if(NOT choice STREQUAL "builtin")
    if(cpu STREQUAL "any")
      set(library "")
    else()
      _cortexm_find_cmsis_nn(library)
    endif()
    if(NOT library AND choice STREQUAL "auto")
      set(choice builtin)
    elseif(NOT library AND cpu STREQUAL "any")
      message(FATAL_ERROR "cortexm_add_model: KERNELS cmsis-nn needs to know the core, CPU any names none\nhint: name the core")
    elseif(NOT library)
      get_property(hint GLOBAL PROPERTY CORTEXM_PLATFORM_CMSIS_NN_HINT)
      if(NOT hint)
        set(hint "set CMSIS_NN_ROOT to a checkout of https://github.com/ARM-software/CMSIS-NN, or add it to the project (add_subdirectory, FetchContent) before the model")
      endif()
      message(FATAL_ERROR "cortexm_add_model: KERNELS cmsis-nn, but the project has no target cmsis-nn\nhint: ${hint}")
    endif()
  endif()
  set(${out} "${choice}" PARENT_SCOPE)
endfunction()

# The adapters, once per build.
function(_cortexm_require_adapters)
  if(TARGET cortexm_cmsis_nn)
    return()
  endif()
  _cortexm_find_cmsis_nn(library)
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  include("${root}/cmake/CortexMKernelSources.cmake")
  cortexm_adapter_sources(sources)
  add_library(cortexm_cmsis_nn STATIC EXCLUDE_FROM_ALL ${sources})
  add_library(CortexMModel::cmsis_nn ALIAS cortexm_cmsis_nn)
  set_target_properties(cortexm_cmsis_nn PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
  target_include_directories(
    cortexm_cmsis_nn PUBLIC "${root}/kernels/include" "${root}/kernels/src/cmsis_nn"
    PRIVATE "${root}/kernels/src")
  target_compile_options(cortexm_cmsis_nn PRIVATE -ffunction-sections -fdata-sections)
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -O2)
  target_link_libraries(cortexm_cmsis_nn PUBLIC "${library}")
  get_property(debug GLOBAL PROPERTY CORTEXM_PLATFORM_DEBUG)
  if(debug OR CORTEXM_KERNEL_DEBUG)
    target_compile_definitions(cortexm_cmsis_nn PRIVATE CORTEXM_DEBUG)
  endif()
  _cortexm_use_platform(cortexm_cmsis_nn)
endfunction()

# _cortexm_use_cmsis_nn(<library of generated code> <NAME_cmsis_nn.c>...): links the adapters, and compiles
# the checks with the options that CMSIS-NN itself is compiled with.
function(_cortexm_use_cmsis_nn target)
  _cortexm_require_adapters()
  _cortexm_find_cmsis_nn(library)
  # Linked with the model, but its headers are not the application's.
  target_link_libraries("${target}" PRIVATE CortexMModel::cmsis_nn)
  set(check "${target}-cmsis-nn-check")
  add_library("${check}" OBJECT ${ARGN})
  set_target_properties("${check}" PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
  target_compile_definitions("${check}" PRIVATE $<TARGET_PROPERTY:${library},COMPILE_DEFINITIONS>)
  target_compile_options("${check}" PRIVATE $<TARGET_PROPERTY:${library},COMPILE_OPTIONS>)
  target_link_libraries("${check}" PRIVATE CortexMModel::cmsis_nn)
  # The check includes the model's header, which says of which compilation it is.
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  target_include_directories("${check}" PRIVATE "${root}/runtime/include")
  _cortexm_use_platform("${check}")
  # Warnings of another project's sources are not ours to give; errors are what this is for.
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-O2;-fno-lto;-w")
  add_dependencies("${target}" "${check}")
endfunction()

# The archives of the trial link that measures a model.
function(_cortexm_cmsis_nn_archives out)
  set(archives "")
  if(TARGET cortexm_cmsis_nn)
    _cortexm_find_cmsis_nn(library)
    set(archives "$<TARGET_FILE:cortexm_cmsis_nn>" "$<TARGET_FILE:${library}>")
  endif()
  set(${out} "${archives}" PARENT_SCOPE)
endfunction()
