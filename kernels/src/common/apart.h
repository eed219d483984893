/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that stay functions: merged into a larger one, a loop would lose its registers. */
#ifndef CORTEXM_COMMON_APART_H
#define CORTEXM_COMMON_APART_H

#if defined(__GNUC__)
#define CORTEXM_APART __attribute__((noinline, unused))
#else
#define CORTEXM_APART
#endif

#endif
