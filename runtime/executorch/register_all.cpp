/* SPDX-License-Identifier: Apache-2.0 */
/* In a file of its own: whoever calls this links all operators. */
#include "cortexm/executorch_operators.h"

namespace cortexm_et {

using ::executorch::runtime::Error;
using ::executorch::runtime::Kernel;

Error register_all()
{
#define CORTEXM_ET_KERNEL(name) Kernel("cortex_m::" #name ".out", name##_out),
    static constexpr Kernel kernels[] = {CORTEXM_ET_OPERATORS(CORTEXM_ET_KERNEL)};
#undef CORTEXM_ET_KERNEL

    return register_missing({kernels, sizeof kernels / sizeof kernels[0]});
}

} // namespace cortexm_et
