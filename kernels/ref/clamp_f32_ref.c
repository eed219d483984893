/* SPDX-License-Identifier: Apache-2.0 */
#define TYPES f32
#define ELEMENT float
#define PARAMS cortexm_clamp_f32_t
#include "clamp_ref.inc"
