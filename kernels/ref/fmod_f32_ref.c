/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION fmod
#define TYPES f32
#define ELEMENT float
#include "binary_ref.inc"
