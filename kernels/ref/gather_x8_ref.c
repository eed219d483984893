/* SPDX-License-Identifier: Apache-2.0 */
#define KERNEL cortexm_gather_x8_ref
#define ELEMENT uint8_t
#include "gather_ref.inc"
