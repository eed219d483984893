/* SPDX-License-Identifier: Apache-2.0 */
#define KERNEL cortexm_minimum_s8_ref
#define ELEMENT int8_t
#define OP <
#include "minmax_ref.inc"
