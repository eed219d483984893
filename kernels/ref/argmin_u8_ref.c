/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_argmin_u8_ref
#define ELEMENT uint8_t
#define RELATION <
#include "arg_ref.inc"
