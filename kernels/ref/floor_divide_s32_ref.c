/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION floor_divide
#define TYPES s32
#define ELEMENT int32_t
#include "binary_ref.inc"
