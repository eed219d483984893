/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_copy_x8_ref
#define ELEMENT uint8_t
#include "copy_ref.inc"
