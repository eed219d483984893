/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_argmin_s32_ref
#define ELEMENT int32_t
#define RELATION <
#include "arg_ref.inc"
