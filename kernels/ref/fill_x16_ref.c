/* SPDX-License-Identifier: Apache-2.0 */
#define KERNEL cortexm_fill_x16_ref
#define ELEMENT uint16_t
#include "fill_ref.inc"
