/* SPDX-License-Identifier: Apache-2.0 */
/* fmod of float, portable C. */
#define FUNCTION fmod
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
