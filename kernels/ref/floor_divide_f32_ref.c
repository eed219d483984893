/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION floor_divide
#define TYPES f32
#define ELEMENT float
#include "binary_ref.inc"
