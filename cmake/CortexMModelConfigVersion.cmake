# SPDX-License-Identifier: Apache-2.0
# Compatible within one minor version while the major version is 0, else within one major version.
include("${CMAKE_CURRENT_LIST_DIR}/CortexMVersion.cmake")
set(PACKAGE_VERSION "${CORTEXM_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
string(REGEX MATCH "^(0\\.)?[0-9]+" _cortexm_series "${PACKAGE_VERSION}")
string(REGEX MATCH "^(0\\.)?[0-9]+" _cortexm_asked "${PACKAGE_FIND_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION
   AND (_cortexm_series STREQUAL _cortexm_asked OR PACKAGE_FIND_VERSION MATCHES "^0$"))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
