/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Found before the <math.h> of Zephyr's minimal C library, which declares sqrt() only, so that all
 * kernels compile. A model that uses a function which the C library lacks fails in the link.
 */
#ifndef CORTEXM_MINIMAL_LIBC_MATH_H
#define CORTEXM_MINIMAL_LIBC_MATH_H

#include_next <math.h>

#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif

float acosf(float x);
float acoshf(float x);
float asinf(float x);
float asinhf(float x);
float atan2f(float y, float x);
float atanf(float x);
float atanhf(float x);
float ceilf(float x);
float cosf(float x);
float coshf(float x);
float erff(float x);
float expf(float x);
float expm1f(float x);
float fabsf(float x);
float floorf(float x);
float fmodf(float x, float y);
float log10f(float x);
float log1pf(float x);
float log2f(float x);
float logf(float x);
float powf(float x, float y);
float rintf(float x);
float sinf(float x);
float sinhf(float x);
float tanf(float x);
float tanhf(float x);
float truncf(float x);

#endif
