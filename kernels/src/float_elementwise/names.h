/* SPDX-License-Identifier: Apache-2.0 */
/* Pastes names after the including file's macros are expanded. */
#ifndef CORTEXM_FLOAT_NAMES_H
#define CORTEXM_FLOAT_NAMES_H

#define CORTEXM_PASTE(a, b, c, d, e, f) a##b##c##d##e##f
#define CORTEXM_KERNEL_NAME(function, types, isa)                                                  \
    CORTEXM_PASTE(cortexm_, function, _, types, _, isa)
#define CORTEXM_PASTE2(a, b) a##b
#define CORTEXM_FUNCTION(function) CORTEXM_PASTE2(CORTEXM_, function)

#endif
