/* SPDX-License-Identifier: Apache-2.0 */
/* maximum of float, portable C. */
#define FUNCTION maximum
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
