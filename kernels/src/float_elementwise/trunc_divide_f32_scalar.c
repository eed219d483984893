/* SPDX-License-Identifier: Apache-2.0 */
/* trunc_divide of float, portable C. */
#define FUNCTION trunc_divide
#define TYPES f32
#define ELEMENT float
#include "binary_scalar.inc"
