/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION tanh
#define TYPES f32
#define ELEMENT float
#define PARAMS cortexm_unary_f32_t
#include "unary_ref.inc"
