/* SPDX-License-Identifier: Apache-2.0 */
/* div of float, portable C. */
#define FUNCTION div
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
