/* SPDX-License-Identifier: Apache-2.0 */
/* softmax of floats, portable C. */
#define FUNCTION cortexm_softmax_f32_scalar
#define LOG 0
#include "softmax_f32_scalar.inc"
