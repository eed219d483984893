# SPDX-License-Identifier: Apache-2.0
# Where the Python package is, and the version it states: CORTEXM_PACKAGE_DIR and CORTEXM_VERSION.
get_filename_component(CORTEXM_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
# In a checkout and an installed tree the package is inside the tree, in a wheel the tree is inside
# the package (cortexm_tools/share/CortexMModel).
set(CORTEXM_PACKAGE_DIR "${CORTEXM_ROOT}/python/cortexm_tools")
if(NOT EXISTS "${CORTEXM_PACKAGE_DIR}/__init__.py")
  get_filename_component(CORTEXM_PACKAGE_DIR "${CORTEXM_ROOT}/../.." ABSOLUTE)
endif()
if(NOT EXISTS "${CORTEXM_PACKAGE_DIR}/__init__.py")
  message(FATAL_ERROR "CortexMModel in ${CORTEXM_ROOT} is incomplete: its Python package is missing")
endif()
file(STRINGS "${CORTEXM_PACKAGE_DIR}/version.py" _cortexm_line REGEX "^__version__ = ")
string(REGEX REPLACE ".*\"([^\"]*)\".*" "\\1" CORTEXM_VERSION "${_cortexm_line}")
