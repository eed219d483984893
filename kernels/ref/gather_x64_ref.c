/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_gather_x64_ref
#define ELEMENT uint64_t
#include "gather_ref.inc"
