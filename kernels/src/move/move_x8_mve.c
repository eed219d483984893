/* SPDX-License-Identifier: Apache-2.0 */
/* move of bytes to a lower address, MVE: upwards, each vector read before it is written. */
#if !defined(__ARM_FEATURE_MVE)
#error "move_x8_mve.c needs MVE"
#endif

#include "common/mve.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

void cortexm_move_x8_mve(const cortexm_move_t *params, const void *in, void *out)
{
    CORTEXM_ASSERT((uintptr_t)out <= (uintptr_t)in ||
                   (uintptr_t)out >= (uintptr_t)in + (uint32_t)params->count);
    cortexm_copy_mve(out, in, params->count);
}
