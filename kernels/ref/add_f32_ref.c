/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION add
#define TYPES f32
#define ELEMENT float
#include "binary_ref.inc"
