# SPDX-License-Identifier: Apache-2.0
# cortexm_add_model(): from a PyTorch file or an ExecuTorch program to a static library. See
# docs/cmake.md.
#
# This file defines functions only, so it can be included before project(); the library targets come
# into being with the first model.
#
# An adapter for an operating system (../zephyr/CMakeLists.txt) includes this file and sets GLOBAL
# properties:
#   CORTEXM_PLATFORM             what they speak for, for messages
#   CORTEXM_PLATFORM_OBJECTION   why no model can be added, with a hint
#   CORTEXM_PLATFORM_CPU, _ISA   the core, and the best instruction set it is configured for
#   CORTEXM_PLATFORM_LIBRARIES   targets that our libraries link, for their compiler options
#   CORTEXM_PLATFORM_OPTIONS     compiler options for our libraries, after those
#   CORTEXM_PLATFORM_DEPENDS     targets that must be built before our libraries
#   CORTEXM_PLATFORM_FLAGS       compiler options that select the core
#   CORTEXM_PLATFORM_DEBUG       see ../kernels/CMakeLists.txt
#   CORTEXM_DEFAULT_<keyword>    for a keyword of cortexm_add_model() that a call leaves out
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.28)
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/CortexMVersion.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CortexMCores.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CortexMCmsisNN.cmake")

set_property(GLOBAL PROPERTY CORTEXM_ROOT "${CORTEXM_ROOT}")
set_property(GLOBAL PROPERTY CORTEXM_PACKAGE_DIR "${CORTEXM_PACKAGE_DIR}")
set_property(GLOBAL PROPERTY CORTEXM_VERSION "${CORTEXM_VERSION}")

# Before project(), a board or a core selects the toolchain, unless the user chose one.
if(NOT PROJECT_NAME AND NOT CMAKE_TOOLCHAIN_FILE AND (CORTEXM_BOARD OR CORTEXM_CPU)
   AND NOT CORTEXM_CPU MATCHES "^(any|host)$")
  set(CMAKE_TOOLCHAIN_FILE "${CORTEXM_ROOT}/cmake/toolchain-arm-none-eabi.cmake"
      CACHE FILEPATH "Selected by CORTEXM_BOARD or CORTEXM_CPU")
endif()

# The best instruction set that the compiler's own flags allow.
function(_cortexm_compiler_isa out)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_C_FLAGS}")
  get_directory_property(more COMPILE_OPTIONS)
  list(FILTER more INCLUDE REGEX "^-m[a-z-]+=")
  execute_process(
    COMMAND "${CMAKE_C_COMPILER}" ${flags} ${more} -dM -E -x c /dev/null
    OUTPUT_VARIABLE macros
    ERROR_QUIET)
  set(isa scalar)
  if(macros MATCHES "__ARM_FEATURE_MVE ")
    set(isa mve)
  elseif(macros MATCHES "__ARM_FEATURE_DSP " AND macros MATCHES "__ARM_ARCH_PROFILE (77|'M')")
    set(isa dsp)
  endif()
  set(${out} ${isa} PARENT_SCOPE)
endfunction()

# Defines CortexMModel::kernels, ::runtime and, with CORTEXM_BOARD, ::board, once per build.
function(cortexm_require_libraries)
  if(TARGET CortexMModel::runtime)
    return()
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    message(FATAL_ERROR "CortexMModel needs the language C\nhint: call project(<name> C) before cortexm_add_model()")
  endif()
  if(CORTEXM_BOARD AND NOT CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "CORTEXM_BOARD is set, but ${CMAKE_C_COMPILER} builds for this machine\nhint: call find_package(CortexMModel) before project(), or pass CMAKE_TOOLCHAIN_FILE")
  endif()
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  get_property(platform GLOBAL PROPERTY CORTEXM_PLATFORM)
  if(platform)
    get_property(CORTEXM_ISA GLOBAL PROPERTY CORTEXM_PLATFORM_ISA)
    get_property(CORTEXM_KERNEL_DEBUG GLOBAL PROPERTY CORTEXM_PLATFORM_DEBUG)
  endif()
  if(NOT CORTEXM_ISA)
    _cortexm_compiler_isa(CORTEXM_ISA)
  endif()
  set(binary_dir "${CMAKE_BINARY_DIR}/cortexm-library")
  add_subdirectory("${root}/kernels" "${binary_dir}/kernels" EXCLUDE_FROM_ALL)
  add_subdirectory("${root}/runtime" "${binary_dir}/runtime" EXCLUDE_FROM_ALL)
  foreach(suffix IN ITEMS "" _size _speed)
    _cortexm_use_platform(cortexm_kernels${suffix})
  endforeach()
  _cortexm_use_platform(cortexm_runtime)
  if(CORTEXM_BOARD)
    add_subdirectory("${root}/boards" "${binary_dir}/boards" EXCLUDE_FROM_ALL)
  endif()
endfunction()

# Defines CortexMModel::executorch: our operators on ExecuTorch's runtime, for RUNTIME executorch and
# for applications that load programs themselves. Needs ExecuTorch's targets.
function(cortexm_require_executorch)
  if(TARGET CortexMModel::executorch)
    return()
  endif()
  cortexm_require_libraries()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CXX" IN_LIST languages)
    message(FATAL_ERROR "RUNTIME executorch needs the language C++\nhint: project(<name> C CXX)")
  endif()
  if(NOT CORTEXM_EXECUTORCH_LIBRARIES AND NOT TARGET executorch::runtime AND NOT TARGET executorch)
    set(hint "find_package(executorch REQUIRED) before cortexm_add_model(), or add ExecuTorch's own build; see docs/executorch.md")
    if(executorch_FOUND AND CMAKE_VERSION VERSION_LESS 3.28)
      set(hint "the package that find_package(executorch) found defines its targets from CMake 3.28 on; this is ${CMAKE_VERSION}")
    endif()
    message(FATAL_ERROR "RUNTIME executorch: there is no target executorch::runtime or executorch\nhint: ${hint}")
  endif()
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  add_subdirectory("${root}/runtime/executorch" "${CMAKE_BINARY_DIR}/cortexm-library/executorch" EXCLUDE_FROM_ALL)
  _cortexm_use_platform(cortexm_executorch)
  _cortexm_use_platform(cortexm_executorch_sizes)
endfunction()

# Builds a library as the platform builds its own.
function(_cortexm_use_platform library)
  get_property(libraries GLOBAL PROPERTY CORTEXM_PLATFORM_LIBRARIES)
  get_property(options GLOBAL PROPERTY CORTEXM_PLATFORM_OPTIONS)
  get_property(depends GLOBAL PROPERTY CORTEXM_PLATFORM_DEPENDS)
  target_compile_options("${library}" PRIVATE ${options})
  if(libraries)
    target_link_libraries("${library}" PRIVATE ${libraries})
  endif()
  if(depends)
    add_dependencies("${library}" ${depends})
  endif()
endfunction()

# The interpreter that runs the tools: PYTHON of the call, CORTEXM_PYTHON, the environment the
# package itself lies in (a wheel's, or a checkout's .venv), what CMake finds. Checked once each.
function(_cortexm_find_python out requested is_pytorch)
  get_property(package GLOBAL PROPERTY CORTEXM_PACKAGE_DIR)
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  set(python "${requested}")
  if(NOT python AND CORTEXM_PYTHON)
    set(python "${CORTEXM_PYTHON}")
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

# Size with unit to bytes: 65536, 64K, 64KB, 1M.
function(_cortexm_bytes out what text)
  if(text MATCHES "^([0-9]+) *([kK]|[mM]|)([iI]?[bB])?$")
    set(number ${CMAKE_MATCH_1})
    string(TOUPPER "${CMAKE_MATCH_2}" unit)
    set(factor 1)
    if(unit STREQUAL "K")
      set(factor 1024)
    elseif(unit STREQUAL "M")
      set(factor 1048576)
    endif()
    math(EXPR bytes "${number} * ${factor}")
    set(${out} ${bytes} PARENT_SCOPE)
  else()
    message(FATAL_ERROR "${what} '${text}' is no size\nhint: write bytes, or a number with K or M: 64K")
  endif()
endfunction()

# Lets a model use the arena of a group of models that never run at once: a library with one array, as
# large as the largest of their arenas.
function(_cortexm_join_arena group target name folder section)
  set(library "cortexm_arena_${group}")
  string(TOUPPER "${name}" macro)
  if(NOT TARGET "${library}")
    set(source "${CMAKE_BINARY_DIR}/cortexm/${library}.c")
    set(attribute "")
    if(section)
      set(attribute "__attribute__((section(\"${section}\"))) ")
    endif()
    set(includes "$<TARGET_PROPERTY:${library},CORTEXM_INCLUDES>")
    set(members "$<TARGET_PROPERTY:${library},CORTEXM_MEMBERS>")
    file(GENERATE OUTPUT "${source}" CONTENT
"/* SPDX-License-Identifier: Apache-2.0 */
/* The arena of the models with ARENA shared:${group}. Generated by cortexm_add_model(). */
$<JOIN:${includes},\n>

union arenas {
    $<JOIN:${members},$<SEMICOLON>\n    >$<SEMICOLON>
};

extern uint8_t ${library}[];
${attribute}_Alignas(CORTEXM_ARENA_ALIGN) uint8_t ${library}[sizeof(union arenas)];
")
    add_library("${library}" STATIC "${source}")
    target_link_libraries("${library}" PRIVATE CortexMModel::runtime)
    set_target_properties("${library}" PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON CORTEXM_SECTION "${section}")
    _cortexm_use_platform("${library}")
  endif()
  get_target_property(first "${library}" CORTEXM_SECTION)
  if(NOT section STREQUAL first)
    message(FATAL_ERROR "cortexm_add_model: SECTION_ARENA '${section}' of ${target}, but the arena shared:${group} lies in '${first}'\nhint: give all models of a group the same SECTION_ARENA, or ${target} another group")
  endif()
  set_property(TARGET "${library}" APPEND PROPERTY CORTEXM_INCLUDES "#include \"${name}.h\"")
  set_property(TARGET "${library}" APPEND PROPERTY CORTEXM_MEMBERS "uint8_t ${name}[${macro}_ARENA_SIZE]")
  target_include_directories("${library}" PRIVATE "${folder}")
  add_dependencies("${library}" "${target}-sources")
  target_link_libraries("${target}" PUBLIC "${library}")
endfunction()

# cortexm_add_model(<model.py|model.pte|model.bpte> [options]): defines a static library target.
function(cortexm_add_model)
  set(flags EMBED_PTE REQUIRE_INT8 PROFILE)
  set(values TARGET CPU ISA OPTIMIZE CALIBRATION ARENA IO RAM_LIMIT FLASH_LIMIT SECTION_ARENA
             SECTION_WEIGHTS PYTHON SAMPLES KERNELS RUNTIME)
  set(lists DEPENDS REGIONS EXTERNAL_OPERATORS)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "${flags}" "${values}" "${lists}")

  # The arguments themselves.
  list(LENGTH ARG_UNPARSED_ARGUMENTS count)
  if(count EQUAL 0)
    message(FATAL_ERROR "cortexm_add_model: no model given\nhint: cortexm_add_model(model.py CPU cortex-m55)")
  endif()
  list(POP_FRONT ARG_UNPARSED_ARGUMENTS model)
  if(ARG_UNPARSED_ARGUMENTS)
    list(GET ARG_UNPARSED_ARGUMENTS 0 unknown)
    cortexm_did_you_mean(hint "${unknown}" ${flags} ${values} ${lists})
    message(FATAL_ERROR "cortexm_add_model: unknown argument '${unknown}'\nhint: ${hint}")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES)
    list(JOIN ARG_KEYWORDS_MISSING_VALUES ", " missing)
    message(FATAL_ERROR "cortexm_add_model: no value after ${missing}")
  endif()
  foreach(keyword IN ITEMS ${values})
    if(ARG_${keyword} AND ARG_${keyword} IN_LIST flags)
      message(FATAL_ERROR "cortexm_add_model: no value after ${keyword}")
    endif()
  endforeach()

  # What the platform says.
  get_property(platform GLOBAL PROPERTY CORTEXM_PLATFORM)
  get_property(platform_cpu GLOBAL PROPERTY CORTEXM_PLATFORM_CPU)
  get_property(platform_isa GLOBAL PROPERTY CORTEXM_PLATFORM_ISA)
  get_property(objection GLOBAL PROPERTY CORTEXM_PLATFORM_OBJECTION)
  if(objection)
    message(FATAL_ERROR "cortexm_add_model: ${objection}")
  endif()
  foreach(keyword IN LISTS flags values lists)
    get_property(default GLOBAL PROPERTY CORTEXM_DEFAULT_${keyword})
    if(default AND NOT ARG_${keyword})
      set(ARG_${keyword} "${default}")
    endif()
  endforeach()

  # The model file.
  get_filename_component(model_path "${model}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(model_file "${model_path}" NAME)
  get_filename_component(extension "${model_path}" LAST_EXT)
  get_filename_component(stem "${model_path}" NAME_WLE)
  if(NOT extension MATCHES "^\\.(py|pte|bpte)$")
    message(FATAL_ERROR "cortexm_add_model: '${model}' is neither a .py nor a .pte or .bpte file")
  endif()
  # A .pte may be made by another rule of the build; then it need not exist yet.
  get_source_file_property(generated "${model_path}" GENERATED)
  if(NOT EXISTS "${model_path}" AND NOT generated)
    get_filename_component(folder "${model_path}" DIRECTORY)
    file(GLOB siblings RELATIVE "${folder}" "${folder}/*.py" "${folder}/*.pte" "${folder}/*.bpte")
    set(hint "paths are relative to ${CMAKE_CURRENT_SOURCE_DIR}")
    if(siblings)
      cortexm_did_you_mean(hint "${model_file}" ${siblings})
    endif()
    message(FATAL_ERROR "cortexm_add_model: ${model_path} does not exist\nhint: ${hint}")
  endif()
  if(extension STREQUAL ".py")
    set(is_pytorch TRUE)
  else()
    set(is_pytorch FALSE)
  endif()

  # Its name. A target may be called almost anything; what C sees is an identifier.
  set(target "${stem}")
  if(ARG_TARGET)
    set(target "${ARG_TARGET}")
  endif()
  string(MAKE_C_IDENTIFIER "${target}" name)
  set(keywords auto break case char const continue default do double else enum extern float for goto
      if inline int long main register restrict return short signed sizeof static struct switch
      typedef union unsigned void volatile while)
  if(name IN_LIST keywords)
    message(FATAL_ERROR "cortexm_add_model: '${name}' is a word of C and cannot name a model\nhint: add TARGET <name>")
  endif()
  get_property(taken GLOBAL PROPERTY CORTEXM_MODEL_NAMES)
  if(TARGET "${target}" OR name IN_LIST taken)
    message(FATAL_ERROR "cortexm_add_model: there is already a target named '${target}'\nhint: add TARGET <another name> to one of the two")
  endif()
  set_property(GLOBAL APPEND PROPERTY CORTEXM_MODEL_NAMES "${name}")

  # Core and instruction set.
  set(cpu "${ARG_CPU}")
  set(isa "${ARG_ISA}")
  string(TOLOWER "${cpu}" cpu)
  string(TOLOWER "${isa}" isa)
  if(platform_cpu)
    if(cpu AND NOT cpu MATCHES "^(any|${platform_cpu})$")
      cortexm_check_isa("${cpu}" "")
      message(FATAL_ERROR "cortexm_add_model: CPU ${cpu} contradicts ${platform}, which is a ${platform_cpu}\nhint: leave CPU out, or choose another board")
    endif()
    if(isa STREQUAL "mve" AND platform_cpu MATCHES "m(52|55|85)$" AND NOT platform_isa STREQUAL "mve")
      message(FATAL_ERROR "cortexm_add_model: ISA mve, but ${platform} is configured without MVE\nhint: set CONFIG_FPU=y")
    endif()
    if(NOT cpu)
      set(cpu "${platform_cpu}")
    endif()
    if(NOT isa AND cpu STREQUAL "${platform_cpu}")
      set(isa "${platform_isa}")
    endif()
  elseif(NOT cpu)
    if(CORTEXM_CPU)
      set(cpu "${CORTEXM_CPU}")
      if(NOT isa)
        set(isa "${CORTEXM_ISA}")
      endif()
    elseif("${CMAKE_SYSTEM_PROCESSOR}" MATCHES "^cortex-m")
      set(cpu "${CMAKE_SYSTEM_PROCESSOR}")
    elseif(NOT CMAKE_CROSSCOMPILING)
      set(cpu host)
    else()
      message(FATAL_ERROR "cortexm_add_model: the toolchain does not say which core it builds for\nhint: add CPU <core>, or set CORTEXM_CPU")
    endif()
  endif()
  cortexm_check_isa("${cpu}" "${isa}")
  if(ARG_CPU AND CORTEXM_CPU AND NOT cpu STREQUAL "any" AND NOT cpu STREQUAL CORTEXM_CPU)
    message(FATAL_ERROR "cortexm_add_model: CPU ${cpu} contradicts the toolchain, which builds for ${CORTEXM_CPU}\nhint: leave CPU out, or set CORTEXM_CPU or CORTEXM_BOARD accordingly")
  endif()
  if(NOT isa AND CORTEXM_ISA AND cpu STREQUAL "${CORTEXM_CPU}")
    set(isa "${CORTEXM_ISA}")
  endif()
  get_property(isas GLOBAL PROPERTY CORTEXM_ISAS_${cpu})
  if(NOT isa)
    list(GET isas -1 isa)
  endif()

  # The other values.
  set(group "")
  if(ARG_ARENA MATCHES "^shared(:.*)?$")
    string(REGEX REPLACE "^shared:?" "" group "${ARG_ARENA}")
    if(NOT group)
      set(group shared)
    endif()
    string(MAKE_C_IDENTIFIER "${group}" identifier)
    if(NOT group STREQUAL identifier)
      message(FATAL_ERROR "cortexm_add_model: ARENA ${ARG_ARENA}: '${group}' is no C identifier\nhint: use shared:${identifier}")
    endif()
    set(ARG_ARENA shared)
  endif()
  foreach(choice IN ITEMS "ARENA own caller shared" "IO float int8"
          "OPTIMIZE balanced size speed")
    string(REPLACE " " ";" choice "${choice}")
    list(POP_FRONT choice keyword)
    if(DEFINED ARG_${keyword})
      cortexm_check_word("${keyword}" "${ARG_${keyword}}" ${choice})
    else()
      list(GET choice 0 ARG_${keyword})
    endif()
  endforeach()
  set(kernels builtin)
  if(DEFINED ARG_KERNELS)
    _cortexm_resolve_kernels(kernels "${ARG_KERNELS}" "${cpu}")
  endif()
  if(DEFINED ARG_RUNTIME)
    cortexm_check_word(RUNTIME "${ARG_RUNTIME}" compiled executorch)
  else()
    set(ARG_RUNTIME compiled)
  endif()
  if(ARG_EXTERNAL_OPERATORS AND NOT ARG_RUNTIME STREQUAL "executorch")
    message(FATAL_ERROR "cortexm_add_model: EXTERNAL_OPERATORS is for RUNTIME executorch")
  endif()
  set(arena "${ARG_ARENA}")
  if(group)
    set(arena "shared:${group}")
  endif()
  set(options --name "${name}" --cpu "${cpu}" --isa "${isa}" --io "${ARG_IO}" --arena "${arena}"
      --optimize "${ARG_OPTIMIZE}")
  if(NOT kernels STREQUAL "builtin")
    list(APPEND options --kernels "${kernels}")
  endif()
  set(limits "")
  foreach(limit IN ITEMS RAM_LIMIT FLASH_LIMIT)
    if(DEFINED ARG_${limit})
      _cortexm_bytes(bytes "${limit}" "${ARG_${limit}}")
      string(TOLOWER "--${limit}" option)
      string(REPLACE "_" "-" option "${option}")
      list(APPEND limits ${option} ${bytes})
    endif()
  endforeach()
  list(APPEND options ${limits})
  set(arena_sections "")
  if(ARG_SECTION_ARENA)
    list(APPEND options --section-arena "${ARG_SECTION_ARENA}")
    list(APPEND arena_sections --section-arena "${ARG_SECTION_ARENA}")
  endif()
  if(ARG_SECTION_WEIGHTS)
    list(APPEND options --section-weights "${ARG_SECTION_WEIGHTS}")
  endif()
  if(ARG_REGIONS STREQUAL "board")
    set(ARG_REGIONS "")
    if(CORTEXM_BOARD)
      cortexm_load_board("${CORTEXM_BOARD}")
      set(ARG_REGIONS "${CORTEXM_BOARD_REGIONS}")
    endif()
    if(NOT ARG_REGIONS)
      message(FATAL_ERROR "cortexm_add_model: REGIONS board, but no board says what memories it has\nhint: set CORTEXM_BOARD, or list them: REGIONS dtcm=128K:fast sram=2M")
    endif()
  endif()
  foreach(region IN LISTS ARG_REGIONS)
    if(NOT region MATCHES "^[A-Za-z_][A-Za-z0-9_]*=[0-9]+ *[kKmMiIbB]*(:(ram|fast|weights))?(@.*)?$")
      message(FATAL_ERROR "cortexm_add_model: '${region}' describes no memory region\nhint: write name=size[:ram|fast|weights][@section], as in dtcm=128K:fast")
    endif()
    list(APPEND options --region "${region}")
    if(NOT region MATCHES ":weights" AND region MATCHES "@(.+)$")
      list(APPEND arena_sections --section-arena "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(depends "${model_path}" ${ARG_DEPENDS})
  if(DEFINED ARG_CALIBRATION)
    get_filename_component(calibration "${ARG_CALIBRATION}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    get_source_file_property(generated "${calibration}" GENERATED)
    if(NOT EXISTS "${calibration}" AND NOT generated)
      message(FATAL_ERROR "cortexm_add_model: CALIBRATION ${calibration} does not exist")
    endif()
    if(NOT is_pytorch)
      message(FATAL_ERROR "cortexm_add_model: CALIBRATION is for a model.py; ${model_file} is already quantized")
    endif()
    list(APPEND options --calibration "${calibration}")
    list(APPEND depends "${calibration}")
  endif()
  if(ARG_EMBED_PTE AND NOT ARG_RUNTIME STREQUAL "executorch")
    list(APPEND options --embed-pte)
  endif()
  if(ARG_REQUIRE_INT8)
    list(APPEND options --require-int8)
  endif()
  if(ARG_PROFILE)
    list(APPEND options --profile)
  endif()
  # The test vectors of a bundled program are there to be run.
  if(extension STREQUAL ".bpte" AND NOT DEFINED ARG_SAMPLES)
    set(ARG_SAMPLES all)
  endif()
  if(DEFINED ARG_SAMPLES)
    if(NOT ARG_SAMPLES MATCHES "^([1-9][0-9]*|all)$")
      message(FATAL_ERROR "cortexm_add_model: SAMPLES '${ARG_SAMPLES}' is no positive number")
    endif()
    list(APPEND options --samples ${ARG_SAMPLES})
  endif()

  _cortexm_find_python(python "${ARG_PYTHON}" ${is_pytorch})
  cortexm_require_libraries()
  if(ARG_RUNTIME STREQUAL "executorch")
    cortexm_require_executorch()
    list(APPEND options --runtime executorch --executorch-sizes
         "$<TARGET_OBJECTS:cortexm_executorch_sizes>")
    foreach(operator IN LISTS ARG_EXTERNAL_OPERATORS)
      list(APPEND options --external-operator "${operator}")
    endforeach()
    list(APPEND depends "$<TARGET_OBJECTS:cortexm_executorch_sizes>")
  endif()
  get_property(root GLOBAL PROPERTY CORTEXM_ROOT)
  get_property(package GLOBAL PROPERTY CORTEXM_PACKAGE_DIR)
  get_property(version GLOBAL PROPERTY CORTEXM_VERSION)

  # What the result depends on besides the user's files: our own tools, and the versions of the
  # packages below them. Another version is another path of its metadata, which makes CMake run
  # again, which rewrites the file below, which makes the model compile again.
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/cortexm/${name}")
  string(MD5 key "${python}")
  get_property(report GLOBAL PROPERTY CORTEXM_PYTHON_${key})
  string(REGEX MATCHALL "metadata=[^\n]*" metadata "${report}")
  list(TRANSFORM metadata REPLACE "^metadata=" "")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${metadata})
  set(environment "${folder}/environment.txt")
  file(CONFIGURE OUTPUT "${environment}" CONTENT "cortexm_tools ${version}\n@report@\n" @ONLY)
  file(GLOB_RECURSE tools "${package}/*.py")
  list(FILTER tools EXCLUDE REGEX "/(run|share|testing|models)/")
  list(APPEND tools "${root}/cmake/launch.py" "${root}/kernels/kernels.json"
       "${root}/kernels/cmsis_nn.json" "${root}/kernels/code_sizes.json"
       "${root}/kernels/include/cortexm/params.h")

  if(is_pytorch)
    set(comment "Lowering ${model_file} for ${cpu} (torch export, int8 quantization)")
    # Minutes may pass: show the tool's own lines as they come.
    set(terminal USES_TERMINAL)
  else()
    set(comment "Compiling ${model_file} for ${cpu}")
    set(terminal "")
  endif()
  if(ARG_RUNTIME STREQUAL "executorch")
    set(sources "${folder}/${name}.c" "${folder}/${name}_operators.c" "${folder}/${name}_kernels.cpp")
    set(ARG_EMBED_PTE TRUE)
  else()
    set(sources "${folder}/${name}.c" "${folder}/${name}_weights.c")
  endif()
  set(products ${sources} "${folder}/${name}.h" "${folder}/${name}.pte" "${folder}/${name}.report.json")
  if(ARG_EMBED_PTE)
    list(APPEND sources "${folder}/${name}_pte.c")
    list(APPEND products "${folder}/${name}_pte.c")
  endif()
  if(DEFINED ARG_SAMPLES)
    list(APPEND sources "${folder}/${name}_samples.c")
    list(APPEND products "${folder}/${name}_samples.c" "${folder}/${name}_samples.h")
  endif()

  set(checks "")
  if(NOT kernels STREQUAL "builtin")
    set(checks "${folder}/${name}_cmsis_nn.c")
    list(APPEND products ${checks})
  endif()

  # The generated files keep their time stamps when their content stays, so that nothing is compiled
  # in vain; hence a stamp of its own tells when the tool last ran.
  set(stamp "${folder}/${name}.stamp")
  set(depfile "${folder}/${name}.d")
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${products}
    COMMAND
      "${python}" "${root}/cmake/launch.py" "${package}" cortexm_tools
      compile "${model_path}" ${options} --depfile "${depfile}" --stamp "${stamp}" --out "${folder}"
    DEPENDS ${depends} ${tools} "${environment}"
    DEPFILE "${depfile}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "${comment}"
    VERBATIM ${terminal})
  add_custom_target("${target}-sources" DEPENDS "${stamp}")

  add_library("${target}" STATIC ${sources})
  add_dependencies("${target}" "${target}-sources")
  target_include_directories("${target}" PUBLIC "${folder}")
  # Straight-line code, run once per inference.
  set_source_files_properties("${folder}/${name}.c" PROPERTIES COMPILE_OPTIONS -Os)
  set(library CortexMModel::kernels)
  if(NOT ARG_OPTIMIZE STREQUAL "balanced")
    string(APPEND library "_${ARG_OPTIMIZE}")
  endif()
  target_link_libraries("${target}" PUBLIC CortexMModel::runtime ${library})
  # -fstack-usage: the compiler's own figures, for the bound on the stack.
  target_compile_options("${target}" PRIVATE -ffunction-sections -fdata-sections
    $<$<C_COMPILER_ID:GNU>:-fstack-usage>)
  _cortexm_use_platform("${target}")
  if(checks)
    _cortexm_use_cmsis_nn("${target}" ${checks})
    add_dependencies("${target}-cmsis-nn-check" "${target}-sources")
  endif()
  set_target_properties(
    "${target}" PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON
    CORTEXM_MODEL_DIR "${folder}"
    CORTEXM_MODEL_NAME "${name}")

  if(ARG_RUNTIME STREQUAL "executorch")
    target_link_libraries("${target}" PUBLIC CortexMModel::executorch)
    target_compile_options("${target}" PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
  endif()

  set(archives "$<TARGET_FILE:${target}>" "$<TARGET_FILE:CortexMModel::runtime>"
      "$<TARGET_FILE:${library}>")
  if(checks)
    _cortexm_cmsis_nn_archives(libraries)
    list(APPEND archives ${libraries})
  endif()
  if(group)
    _cortexm_join_arena("${group}" "${target}" "${name}" "${folder}" "${ARG_SECTION_ARENA}")
    list(APPEND archives "$<TARGET_FILE:cortexm_arena_${group}>")
  endif()

  # Exact flash and RAM, from a trial link of the model alone with what it needs of the kernels.
  # With ExecuTorch's runtime that is the application's link.
  if(CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang)$" AND NOT APPLE AND NOT ARG_RUNTIME STREQUAL "executorch")
    separate_arguments(compiler_flags NATIVE_COMMAND "${CMAKE_C_FLAGS}")
    get_property(platform_flags GLOBAL PROPERTY CORTEXM_PLATFORM_FLAGS)
    list(APPEND compiler_flags ${platform_flags})
    add_custom_command(
      TARGET "${target}" POST_BUILD
      COMMAND
        "${python}" "${root}/cmake/launch.py" "${package}" cortexm_tools.run
        --name "${name}"
        --out "${folder}/${name}.footprint.json" ${arena_sections} ${limits}
        --archive ${archives}
        -- "${CMAKE_C_COMPILER}" ${compiler_flags}
      BYPRODUCTS "${folder}/${name}.footprint.json"
      COMMENT "Measuring ${target}"
      VERBATIM)
  endif()
endfunction()

cmake_policy(POP)
