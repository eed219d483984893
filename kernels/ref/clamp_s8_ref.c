/* SPDX-License-Identifier: Apache-2.0 */
#define TYPES s8
#define ELEMENT int8_t
#define PARAMS cortexm_clamp_t
#include "clamp_ref.inc"
