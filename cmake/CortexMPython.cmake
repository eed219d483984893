# SPDX-License-Identifier: Apache-2.0
# The Python interpreter that the tools run in. Included by CortexMModel.cmake; functions only.

# The interpreter that runs the tools: PYTHON of the call, CORTEXM_PYTHON as variable or in the
# environment, the environment the package itself lies in (a wheel's, or a checkout's .venv), what CMake finds. Checked once each.
function(_cortexm_find_python out requested is_pytorch)
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

  # One run tells what is missing, and the versions whose change must rebuild.
  string(MD5 key "${python}")
  get_property(report GLOBAL PROPERTY CORTEXM_PYTHON_${key})
  if(NOT report)
    execute_process(
      COMMAND "${python}" "${root}/cmake/environment.py"
      RESULT_VARIABLE status
      OUTPUT_VARIABLE report
      ERROR_VARIABLE errors
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
      string(STRIP "${errors}" errors)
      message(FATAL_ERROR "the Python interpreter '${python}' cannot be used: ${errors} (${status})\nhint: set CORTEXM_PYTHON to a Python 3.10 or newer")
    endif()
    set_property(GLOBAL PROPERTY CORTEXM_PYTHON_${key} "${report}")
  endif()
  string(REGEX MATCH "missing=([^\n]*)" _ "${report}")
  set(missing "${CMAKE_MATCH_1}")
  string(REGEX MATCH "missing-torch=([^\n]*)" _ "${report}")
  if(is_pytorch AND CMAKE_MATCH_1)
    string(APPEND missing " ${CMAKE_MATCH_1}")
  endif()
  string(STRIP "${missing}" missing)
  if(missing)
    message(FATAL_ERROR "${python} lacks: ${missing}\nhint: ${python} -m pip install 'cortexm-model[torch]', or set CORTEXM_PYTHON to an interpreter that has them")
  endif()
  set(${out} "${python}" PARENT_SCOPE)
endfunction()
