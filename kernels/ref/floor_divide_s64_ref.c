/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION floor_divide
#define TYPES s64
#define ELEMENT int64_t
#include "binary_ref.inc"
