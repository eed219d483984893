/* SPDX-License-Identifier: Apache-2.0 */
#define TYPES s16
#define ELEMENT int16_t
#define PARAMS cortexm_clamp_t
#include "clamp_ref.inc"
