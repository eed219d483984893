/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_copy_x32_ref
#define ELEMENT uint32_t
#include "copy_ref.inc"
