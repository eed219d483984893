/* SPDX-License-Identifier: Apache-2.0 */
/* remainder of float, portable C. */
#define FUNCTION remainder
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
