# SPDX-License-Identifier: Apache-2.0
# The source lists of the kernel library, from kernels.json. No targets, no side effects.

set(CORTEXM_KERNELS_DIR "${CMAKE_CURRENT_LIST_DIR}")

# cortexm_kernel_sources(<variable> <isa> [<symbol>...])
#
# Sets <variable> to the absolute paths of the kernels that a core with instruction set <isa>
# (scalar, dsp or mve) executes, <variable>_SPEED to the optimization of each for OPTIMIZE speed, and
# <variable>_REF to the paths of their references. With symbols
# (cortexm_conv2d_s8_mve …), only of these. The table has one row a line, which CMake reads much
# faster than JSON. Adapters of other libraries are not among them.
function(cortexm_kernel_sources variable isa)
    set(known scalar dsp mve)
    list(FIND known "${isa}" level)
    if(level EQUAL -1)
        message(FATAL_ERROR "unknown CORTEXM_ISA '${isa}'; it is one of scalar, dsp, mve")
    endif()

    cortexm_kernel_options(options)
    set(sources)
    set(speeds)
    set(references)
    file(STRINGS "${CORTEXM_KERNELS_DIR}/kernels.json" rows REGEX "\"op\":")
    list(FILTER rows EXCLUDE REGEX "\"library\":")
    foreach(row IN LISTS rows)
        foreach(key op types isa family speed)
            set(kernel_${key} "")
            if(row MATCHES "\"${key}\": *\"([^\"]*)\"")
                set(kernel_${key} "${CMAKE_MATCH_1}")
            endif()
        endforeach()
        list(FIND known "${kernel_isa}" kernel_level)
        set(name "${kernel_op}_${kernel_types}")
        list(APPEND references "${CORTEXM_KERNELS_DIR}/ref/${name}_ref.c")
        if(NOT kernel_level GREATER level
           AND (NOT ARGN OR "cortexm_${name}_${kernel_isa}" IN_LIST ARGN))
            list(APPEND sources
                "${CORTEXM_KERNELS_DIR}/src/${kernel_family}/${name}_${kernel_isa}.c")
            if(NOT kernel_speed)
                set(kernel_speed "${options_speed}")
            endif()
            list(APPEND speeds "${kernel_speed}")
        endif()
    endforeach()
    list(REMOVE_DUPLICATES references)
    set(${variable} "${sources}" PARENT_SCOPE)
    set(${variable}_SPEED "${speeds}" PARENT_SCOPE)
    set(${variable}_REF "${references}" PARENT_SCOPE)
endfunction()

# cortexm_kernel_options(<variable>)
#
# Sets <variable> to the compiler options of every kernel, and <variable>_balanced, _size and _speed to
# the optimization for these values of OPTIMIZE.
function(cortexm_kernel_options variable)
    file(STRINGS "${CORTEXM_KERNELS_DIR}/kernels.json" rows REGEX "^  \"(options|optimize)\":")
    string(REGEX MATCHALL "\"-[^\"]+\"" options "${rows}")
    list(TRANSFORM options REPLACE "\"" "")
    foreach(level balanced size speed)
        string(REGEX MATCH "\"${level}\": *\"([^\"]*)\"" _ "${rows}")
        set(${variable}_${level} "${CMAKE_MATCH_1}" PARENT_SCOPE)
        list(REMOVE_ITEM options "${CMAKE_MATCH_1}")
    endforeach()
    set(${variable} "${options}" PARENT_SCOPE)
endfunction()
