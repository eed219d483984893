/* SPDX-License-Identifier: Apache-2.0 */
/* mul of float, portable C. */
#define FUNCTION mul
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
