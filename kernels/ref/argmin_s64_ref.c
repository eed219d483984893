/* SPDX-License-Identifier: Apache-2.0 */
#define FUNCTION cortexm_argmin_s64_ref
#define ELEMENT int64_t
#define RELATION <
#include "arg_ref.inc"
