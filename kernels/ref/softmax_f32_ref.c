/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_softmax_f32_ref
#define LOG 0
#include "softmax_f32_ref.inc"
