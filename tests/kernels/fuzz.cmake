# SPDX-License-Identifier: Apache-2.0
# The sources of the fuzz driver, here and for boards: the cases of each family, and what they share. And
# the library of the references.
set(families
    conv float_conv linear recurrent pool activation norm arithmetic compare convert move index reduce resample
    spectrum)
list(TRANSFORM families APPEND _cases OUTPUT_VARIABLE fuzz_sources)
list(APPEND fuzz_sources boxes floats fuzz harness pack)
list(TRANSFORM fuzz_sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
list(TRANSFORM fuzz_sources APPEND .c)

set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
list(APPEND fuzz_sources "${generated}/contracts.c")
set(scripts "${CMAKE_CURRENT_LIST_DIR}/../../scripts")
set(kernels "${CMAKE_CURRENT_LIST_DIR}/../../kernels")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${scripts}/kernel_files.py" --driver "${generated}"
    RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "scripts/kernel_files.py failed")
endif()

file(GLOB references "${kernels}/ref/*.c")
add_library(cortexm_kernels_ref STATIC ${references})
set_target_properties(cortexm_kernels_ref PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
target_include_directories(cortexm_kernels_ref PUBLIC
    "${kernels}/include" "${kernels}/ref" "${generated}")
cortexm_kernel_options(kernel_options)
target_compile_options(cortexm_kernels_ref PRIVATE ${kernel_options}
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
target_link_libraries(cortexm_kernels_ref PUBLIC m)
