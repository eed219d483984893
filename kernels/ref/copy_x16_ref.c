/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_copy_x16_ref
#define ELEMENT uint16_t
#include "copy_ref.inc"
