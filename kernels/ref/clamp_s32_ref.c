/* SPDX-License-Identifier: Apache-2.0 */
#define TYPES s32
#define ELEMENT int32_t
#define PARAMS cortexm_clamp_t
#include "clamp_ref.inc"
