/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h in portable C. */
#ifndef CORTEXM_RECURRENT_CELLS_SCALAR_H
#define CORTEXM_RECURRENT_CELLS_SCALAR_H

#include <stdint.h>

#include "cortexm/requantize.h"

static inline int32_t cortexm_scaled(int32_t a, int32_t m)
{
    return (int32_t)(((int64_t)a * m) >> 16);
}

#define CORTEXM_SCALED(a, m) cortexm_scaled(a, m)
#define CORTEXM_PARABOLA(value, word, f) cortexm_parabola(value, word, f)
#define CORTEXM_SATURATED(x, n) cortexm_clamp(x, -(1 << ((n) - 1)), (1 << ((n) - 1)) - 1)

#include "recurrent/cells/cells.h"

#endif
