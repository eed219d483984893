/* SPDX-License-Identifier: Apache-2.0 */
#define TYPES s64
#define ELEMENT int64_t
#define PARAMS cortexm_clamp_t
#include "clamp_ref.inc"
