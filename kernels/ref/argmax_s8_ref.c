/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_argmax_s8_ref
#define ELEMENT int8_t
#define RELATION >
#include "arg_ref.inc"
