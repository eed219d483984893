/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that stay functions: merged into a larger one, a loop would lose its registers.
 *
 * static CORTEXM_APART: one in each object. CORTEXM_SHARED, not static: objects that have it share one;
 * the linker keeps the first and drops the sections of the others. */
#ifndef CORTEXM_COMMON_APART_H
#define CORTEXM_COMMON_APART_H

#if defined(__GNUC__)
#define CORTEXM_APART __attribute__((noinline, unused))
#define CORTEXM_SHARED __attribute__((noinline, weak))
#else
#define CORTEXM_APART
#define CORTEXM_SHARED static
#endif

#endif
