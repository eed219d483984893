/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_argmax_s16_ref
#define ELEMENT int16_t
#define RELATION >
#include "arg_ref.inc"
