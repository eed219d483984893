/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION remainder
#define TYPES f32
#define ELEMENT float
#include "binary_ref.inc"
