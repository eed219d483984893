/* SPDX-License-Identifier: Apache-2.0 */
/* log_softmax of floats, portable C. */
#define FUNCTION cortexm_log_softmax_f32_scalar
#define LOG 1
#include "softmax_f32_scalar.inc"
