/* SPDX-License-Identifier: Apache-2.0 */
/* atan2 of float, portable C. */
#define FUNCTION atan2
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
