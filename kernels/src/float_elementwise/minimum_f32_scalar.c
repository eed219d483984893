/* SPDX-License-Identifier: Apache-2.0 */
/* minimum of float, portable C. */
#define FUNCTION minimum
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
