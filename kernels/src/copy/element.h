/* SPDX-License-Identifier: Apache-2.0 */
/* Elements that are moved without looking at their type, e.g. floats as 4 bytes. */
#ifndef CORTEXM_COPY_ELEMENT_H
#define CORTEXM_COPY_ELEMENT_H

#include <stdint.h>

/* may_alias: the compiler must not conclude from these types that no float lies there. */
typedef uint8_t cortexm_x8_t;
typedef uint16_t __attribute__((may_alias)) cortexm_x16_t;
typedef uint32_t __attribute__((may_alias)) cortexm_x32_t;
typedef uint64_t __attribute__((may_alias)) cortexm_x64_t;

#endif
