# SPDX-License-Identifier: Apache-2.0
# The sources of the fuzz driver, here and for boards: the cases of each family, and what they share.
set(families
    conv linear recurrent pool activation norm arithmetic compare convert move index reduce resample
    spectrum)
list(TRANSFORM families APPEND _cases OUTPUT_VARIABLE fuzz_sources)
list(APPEND fuzz_sources boxes floats fuzz harness pack)
list(TRANSFORM fuzz_sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
list(TRANSFORM fuzz_sources APPEND .c)
