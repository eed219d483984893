# SPDX-License-Identifier: Apache-2.0
# The Python interpreter that the tools run in. Included by CortexMModel.cmake; functions only.

# The interpreter that runs the tools: PYTHON of the call, CORTEXM_PYTHON as variable or in the
# environment, the environment the package itself lies in (a wheel's, or a checkout's .venv), what CMake finds.
function(_cortexm_find_python out requested)
  get_property(package GLOBAL PROPERTY CORTEXM_PACKAGE_DIR)
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  set(python "${requested}")
  if(NOT python AND CORTEXM_PYTHON)
    set(python "${CORTEXM_PYTHON}")
  endif()
  if(NOT python)
    set(python "$ENV{CORTEXM_PYTHON}")
  endif()
  if(NOT python AND NOT DEFINED ENV{VIRTUAL_ENV})
    foreach(candidate IN ITEMS "${package}/../../../../bin/python" "${root}/.venv/bin/python")
      if(NOT python AND EXISTS "${candidate}")
        # No REALPATH: the link's place is what makes it the environment's interpreter.
        get_filename_component(python "${candidate}" ABSOLUTE)
      endif()
    endforeach()
  endif()
  if(NOT python)
    set(Python3_FIND_VIRTUALENV FIRST)
    find_package(Python3 3.10 QUIET COMPONENTS Interpreter)
    if(NOT Python3_Interpreter_FOUND)
      message(FATAL_ERROR "no Python 3.10 or newer was found\nhint: install one (Debian: apt install python3) or set CORTEXM_PYTHON")
    endif()
    set(python "${Python3_EXECUTABLE}")
  endif()
  if(NOT IS_ABSOLUTE "${python}")
    unset(_cortexm_python_found CACHE)
    find_program(_cortexm_python_found "${python}" HINTS "${CMAKE_CURRENT_SOURCE_DIR}")
    if(_cortexm_python_found)
      set(python "${_cortexm_python_found}")
    endif()
    unset(_cortexm_python_found CACHE)
  endif()

  set(${out} "${python}" PARENT_SCOPE)
endfunction()

# _cortexm_settle(<out> <python> <words>): code that sets SETTLED_<key> to what the arguments of a
# cortexm_add_model() come to; ../python/cortexm_tools/cli/configure.py says what the words are, a
# line each. The first call of an interpreter also tells what it has: packages, and the versions whose change must
# rebuild.
function(_cortexm_settle out python words)
  get_property(package GLOBAL PROPERTY CORTEXM_PACKAGE_DIR)
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  string(MD5 key "${python}")
  get_property(report GLOBAL PROPERTY CORTEXM_PYTHON_${key})
  set(what settle)
  if(NOT report)
    set(what both)
  endif()
  execute_process(
    COMMAND "${python}" "${root}/cmake/environment.py" ${what} "${package}" "${words}"
    RESULT_VARIABLE status
    OUTPUT_VARIABLE said
    ERROR_VARIABLE errors)
  string(STRIP "${errors}" errors)
  if(status EQUAL 3)
    message(FATAL_ERROR "cortexm_add_model: ${errors}")
  elseif(NOT status EQUAL 0)
    message(FATAL_ERROR "the Python interpreter '${python}' cannot be used: ${errors} (${status})\nhint: set CORTEXM_PYTHON to a Python 3.10 or newer")
  endif()
  if(NOT report)
    string(REGEX REPLACE "(^|\n)--\r?\n.*" "" report "${said}")
    set_property(GLOBAL PROPERTY CORTEXM_PYTHON_${key} "${report}")
  endif()
  string(REGEX REPLACE "^(.*\n)?--\r?\n(set\\(SETTLED_)" "\\2" said "${said}")
  set(${out} "${said}" PARENT_SCOPE)
endfunction()

# Stops unless the interpreter has the packages that it needs.
function(_cortexm_check_packages python is_pytorch)
  string(MD5 key "${python}")
  get_property(report GLOBAL PROPERTY CORTEXM_PYTHON_${key})
  string(REGEX MATCH "missing=([^\n]*)" _ "${report}")
  set(missing "${CMAKE_MATCH_1}")
  string(REGEX MATCH "missing-torch=([^\n]*)" _ "${report}")
  if(is_pytorch AND CMAKE_MATCH_1)
    string(APPEND missing " ${CMAKE_MATCH_1}")
  endif()
  string(STRIP "${missing}" missing)
  if(missing)
    get_property(remedy GLOBAL PROPERTY CORTEXM_PLATFORM_PACKAGES)
    if(NOT remedy)
      set(remedy "${python} -m pip install 'cortexm-model[torch]'")
    endif()
    message(FATAL_ERROR "${python} lacks: ${missing}\nhint: ${remedy}, or set CORTEXM_PYTHON to an interpreter that has them")
  endif()
endfunction()
