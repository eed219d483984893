/* SPDX-License-Identifier: Apache-2.0 */
/* floor_divide of float, portable C. */
#define FUNCTION floor_divide
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
