/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION maximum
#define TYPES f32
#define ELEMENT float
#include "binary_ref.inc"
