# SPDX-License-Identifier: Apache-2.0
# The source lists of the kernel library, from kernels.json. No targets, no side effects.

set(CORTEXM_KERNELS_DIR "${CMAKE_CURRENT_LIST_DIR}")

# cortexm_kernel_sources(<variable> <isa>)
#
# Sets <variable> to the absolute paths of the kernels that a core with instruction set <isa>
# (scalar, dsp or mve) executes, and <variable>_REF to those of their references.
function(cortexm_kernel_sources variable isa)
    set(known scalar dsp mve)
    list(FIND known "${isa}" level)
    if(level EQUAL -1)
        message(FATAL_ERROR "unknown CORTEXM_ISA '${isa}'; it is one of scalar, dsp, mve")
    endif()

    set(sources)
    set(references)
    file(READ "${CORTEXM_KERNELS_DIR}/kernels.json" table)
    string(JSON count LENGTH "${table}" kernels)
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
        foreach(key op types isa family)
            string(JSON kernel_${key} GET "${table}" kernels ${index} ${key})
        endforeach()
        list(FIND known "${kernel_isa}" kernel_level)
        set(name "${kernel_op}_${kernel_types}")
        list(APPEND references "${CORTEXM_KERNELS_DIR}/ref/${name}_ref.c")
        if(NOT kernel_level GREATER level)
            list(APPEND sources
                "${CORTEXM_KERNELS_DIR}/src/${kernel_family}/${name}_${kernel_isa}.c")
        endif()
    endforeach()
    list(REMOVE_DUPLICATES references)
    set(${variable} "${sources}" PARENT_SCOPE)
    set(${variable}_REF "${references}" PARENT_SCOPE)
endfunction()
