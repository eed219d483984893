# SPDX-License-Identifier: Apache-2.0
# Included at the end of project(), or after it: enables C where a project has only C++.
get_property(_cortexm_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("CXX" IN_LIST _cortexm_languages AND NOT "C" IN_LIST _cortexm_languages)
  enable_language(C)
endif()
