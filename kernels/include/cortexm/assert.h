/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CORTEXM_ASSERT(condition): repeats in debug builds what the plan has proved on the host.
 *
 * Does nothing unless CORTEXM_DEBUG is defined. Then a violated condition executes a trap, where a
 * debugger stops; it needs no C library. A project can define CORTEXM_ASSERT itself.
 */
#ifndef CORTEXM_ASSERT_H
#define CORTEXM_ASSERT_H

#ifndef CORTEXM_ASSERT
#ifdef CORTEXM_DEBUG
#define CORTEXM_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define CORTEXM_ASSERT(condition) ((void)0)
#endif
#endif

#endif
