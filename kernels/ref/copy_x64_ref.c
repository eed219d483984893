/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_copy_x64_ref
#define ELEMENT uint64_t
#include "copy_ref.inc"
