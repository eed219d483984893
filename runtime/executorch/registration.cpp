/* SPDX-License-Identifier: Apache-2.0 */
#include "cortexm/executorch_operators.h"

#include <cstring>

#include <executorch/runtime/kernel/operator_registry.h>

namespace cortexm_et {

using ::executorch::runtime::Error;
using ::executorch::runtime::Kernel;
using ::executorch::runtime::Span;

Error register_missing(Span<const Kernel> kernels)
{
    for (const Kernel &kernel : kernels) {
        bool taken = false;

        for (const Kernel &other : ::executorch::runtime::get_registered_kernels()) {
            taken = taken || std::strcmp(kernel.name_, other.name_) == 0;
        }
        if (!taken) {
            const Error error = ::executorch::runtime::register_kernel(kernel);

            if (error != Error::Ok) {
                return error;
            }
        }
    }
    return Error::Ok;
}

} // namespace cortexm_et
