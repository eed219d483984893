/* SPDX-License-Identifier: Apache-2.0 */
#define TYPES u8
#define ELEMENT uint8_t
#define PARAMS cortexm_clamp_t
#include "clamp_ref.inc"
