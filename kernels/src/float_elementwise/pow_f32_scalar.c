/* SPDX-License-Identifier: Apache-2.0 */
/* pow of float, portable C. */
#define FUNCTION pow
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
