/* SPDX-License-Identifier: Apache-2.0 */
/* add of float, portable C. */
#define FUNCTION add
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
