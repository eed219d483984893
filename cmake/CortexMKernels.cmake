# SPDX-License-Identifier: Apache-2.0
# The kernels that models link: only those that they call, which their reports name. Included by
# CortexMModel.cmake; functions only.

# Sets <out> to the library of kernels for models with this OPTIMIZE, and adds what <target>, whose
# report is <report>, calls to it. One library serves all models of a build.
#
# Which kernels they call is known when they have been compiled, long after CMake wrote the build down.
# So the library has one source file, which names them; its compiler launcher
# (python/cortexm_tools/kernels/build.py) compiles each of them as it, into an object of its own, and
# the archiver takes these as well. Generators that know no launchers, or several configurations at
# once, get the library of all kernels; so do folders whose names CMake does not quote for the
# archiver.
function(_cortexm_use_kernels out target optimize report python)
  set(suffix "")
  if(NOT optimize STREQUAL "balanced")
    set(suffix "_${optimize}")
  endif()
  get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(several OR NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles" OR CMAKE_BINARY_DIR MATCHES "[$]")
    target_link_libraries("${target}" PRIVATE "CortexMModel::kernels${suffix}")
    set_target_properties("cortexm_kernels${suffix}" PROPERTIES
      EXPORT_COMPILE_COMMANDS "${CMAKE_EXPORT_COMPILE_COMMANDS}")
    set(${out} "CortexMModel::kernels${suffix}" PARENT_SCOPE)
    return()
  endif()
  set(library "cortexm_model_kernels${suffix}")
  if(NOT TARGET "${library}")
    _cortexm_add_model_kernels("${library}" "cortexm_kernels${suffix}" "${optimize}" "${python}")
  endif()
  set_property(TARGET "${library}" APPEND PROPERTY CORTEXM_REPORTS "${report}")
  add_dependencies("${library}" "${target}-sources")
  target_link_libraries("${target}" PRIVATE "${library}")
  set(${out} "${library}" PARENT_SCOPE)
endfunction()

# Defines <library> for models, with the options of <whole>, the library of all kernels.
function(_cortexm_add_model_kernels library whole optimize python)
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  get_property(package GLOBAL PROPERTY CORTEXM_PACKAGE_DIR)
  set(tool "${python}" "${root}/cmake/launch.py" "${package}" cortexm_tools.kernels.build)
  set(parts "${package}/kernels/build.py" "${package}/kernels/rows.py")
  set(folder "${CMAKE_BINARY_DIR}/cortexm-library/${library}")
  set(list "${folder}/kernels.c")
  set(objects "${folder}/objects.rsp")
  set(reports "$<TARGET_PROPERTY:${library},CORTEXM_REPORTS>")
  add_custom_command(
    OUTPUT "${list}"
    COMMAND ${tool} list "${list}" "${reports}"
    DEPENDS "${reports}" ${parts}
    COMMENT "Choosing kernels"
    COMMAND_EXPAND_LISTS
    VERBATIM)
  add_library("${library}" STATIC EXCLUDE_FROM_ALL "${list}")
  # A kernel is compiled anew when the table changes what it is compiled with.
  set_source_files_properties("${list}" PROPERTIES
    OBJECT_DEPENDS "${root}/kernels/kernels.json;${parts}")
  foreach(property IN ITEMS C_STANDARD C_STANDARD_REQUIRED C_EXTENSIONS COMPILE_OPTIONS
          COMPILE_DEFINITIONS INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES LINK_LIBRARIES
          INTERFACE_LINK_LIBRARIES)
    get_target_property(value "${whole}" ${property})
    if(NOT value MATCHES "NOTFOUND$")
      set_property(TARGET "${library}" PROPERTY ${property} "${value}")
    endif()
  endforeach()
  set_target_properties("${library}" PROPERTIES
    UNITY_BUILD OFF INTERPROCEDURAL_OPTIMIZATION OFF
    C_COMPILER_LAUNCHER "${tool};compile;${root}/kernels;${optimize};${objects};${CORTEXM_KERNEL_OPTIMIZE};--;${CMAKE_C_COMPILER_LAUNCHER}"
    STATIC_LIBRARY_OPTIONS "@${objects}")
  get_property(prefix GLOBAL PROPERTY CORTEXM_PLATFORM_KERNELS_PREFIX)
  if(prefix)
    add_custom_command(TARGET "${library}" POST_BUILD
      COMMAND "${CMAKE_OBJCOPY}" "--prefix-alloc-sections=${prefix}" "$<TARGET_FILE:${library}>"
      VERBATIM)
  endif()
  get_property(depends GLOBAL PROPERTY CORTEXM_PLATFORM_DEPENDS)
  if(depends)
    add_dependencies("${library}" ${depends})
  endif()
endfunction()
