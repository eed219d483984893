/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_argmax_f32_ref
#define ELEMENT float
#define RELATION >
#include "arg_ref.inc"
