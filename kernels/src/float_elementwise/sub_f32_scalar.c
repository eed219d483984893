/* SPDX-License-Identifier: Apache-2.0 */
/* sub of float, portable C. */
#define FUNCTION sub
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
