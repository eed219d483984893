/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int8 codes: the routines of common/v6m.h. */
#include "recurrent/s8/scalar.h"
