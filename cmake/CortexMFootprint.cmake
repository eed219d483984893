# SPDX-License-Identifier: Apache-2.0
# What a model takes of flash, RAM and stack, known before the application is compiled, and the page that
# shows it. Included by CortexMModel.cmake; functions only.

# _cortexm_measure(<target> SOURCES <file>... LIBRARIES <target>... ARCHIVES <file>... OPTIONS <word>...)
#
# Exact sizes come from a trial link of the model alone with what it needs of the kernels. The bound on the
# stack follows from the machine code, so the model is compiled for the trial without it, into
# <target>-trial; then NAME.c once more, with measured/NAME_stack.h. The other objects are the trial's.
function(_cortexm_measure target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PYTHON;NAME;FOLDER" "SOURCES;LIBRARIES;ARCHIVES;OPTIONS")
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  get_property(package GLOBAL PROPERTY CORTEXM_PACKAGE_DIR)
  set(trial "${target}-trial")
  add_library("${trial}" STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES})
  add_dependencies("${trial}" "${target}-sources")
  target_include_directories("${trial}" PRIVATE "${ARG_FOLDER}")
  target_link_libraries("${trial}" PRIVATE ${ARG_LIBRARIES})
  _cortexm_use_platform("${trial}")
  # The same code: also with options that a project gives the model's target later.
  target_compile_options("${trial}" PRIVATE "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>")
  target_compile_definitions("${trial}" PRIVATE "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set_target_properties("${trial}" PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON UNITY_BUILD OFF INTERPROCEDURAL_OPTIMIZATION OFF)

  if(CORTEXM_TRIAL_LINK)
    set(linker ${CORTEXM_TRIAL_LINK})
  else()
    _cortexm_compiler_flags(flags)
    set(linker "${CMAKE_C_COMPILER}" ${flags})
  endif()
  get_property(platform_flags GLOBAL PROPERTY CORTEXM_PLATFORM_FLAGS)
  set(archives "$<TARGET_FILE:${trial}>" ${ARG_ARCHIVES})
  set(header "${ARG_FOLDER}/measured/${ARG_NAME}_stack.h")
  set(stamp "${ARG_FOLDER}/${ARG_NAME}.measured")
  _cortexm_glob(tools GLOB "${package}/run" "*.py")
  # The stamp tells when this last ran; the header keeps its time as long as it says the same.
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS "${ARG_FOLDER}/${ARG_NAME}.footprint.json" "${header}"
    COMMAND
      "${ARG_PYTHON}" "${root}/cmake/launch.py" "${package}" cortexm_tools.run
      --name "${ARG_NAME}" --out "${ARG_FOLDER}/${ARG_NAME}.footprint.json"
      --stack-header "${header}" --stamp "${stamp}" ${ARG_OPTIONS}
      --archive ${archives}
      -- ${linker} ${platform_flags}
    DEPENDS ${archives} ${tools}
    COMMENT "Measuring ${target}"
    VERBATIM)
  add_custom_target("${target}-measured" DEPENDS "${stamp}")
  add_dependencies("${target}" "${target}-measured")
  target_include_directories("${target}" PUBLIC "${ARG_FOLDER}/measured")
endfunction()

# _cortexm_report_page(<target> <name> <folder> <python> <file>...): <name>.report.html, written again
# when one of the files is. Its stamp tells when; the page keeps its time as long as it says the same.
function(_cortexm_report_page target name folder python)
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  get_property(package GLOBAL PROPERTY CORTEXM_PACKAGE_DIR)
  _cortexm_glob(parts GLOB_RECURSE "${package}/report" "*" "(^|/)__pycache__/")
  add_custom_command(
    OUTPUT "${folder}/${name}.reported"
    BYPRODUCTS "${folder}/${name}.report.html"
    COMMAND
      "${python}" "${root}/cmake/launch.py" "${package}" cortexm_tools
      report "${folder}/${name}.report.json" --html
    COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/${name}.reported"
    DEPENDS ${ARGN} ${parts}
    COMMENT "Writing the report of ${target}"
    VERBATIM)
  add_custom_target("${target}-page" DEPENDS "${folder}/${name}.reported")
  add_dependencies("${target}" "${target}-page")
endfunction()
