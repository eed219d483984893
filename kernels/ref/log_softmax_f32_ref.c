/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_log_softmax_f32_ref
#define LOG 1
#include "softmax_f32_ref.inc"
