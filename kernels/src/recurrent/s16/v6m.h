/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int16 codes: the routines of common/wide/v6m.h. */
#include "recurrent/s16/v7m.h"
