# SPDX-License-Identifier: Apache-2.0
# _cortexm_glob(<out> GLOB|GLOB_RECURSE <folder> <pattern> [<regex>]): the files of a folder, whose own name
# is no pattern, but those whose paths below it match the regular expression.
function(_cortexm_glob out kind folder pattern)
  get_filename_component(folder "${folder}" ABSOLUTE) # behind a pattern .. finds nothing
  string(REGEX REPLACE "([[*?])" "[\\1]" escaped "${folder}")
  file(${kind} found RELATIVE "${folder}" "${escaped}/${pattern}")
  if(ARGC GREATER 4)
    list(FILTER found EXCLUDE REGEX "${ARGV4}")
  endif()
  list(TRANSFORM found PREPEND "${folder}/")
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
