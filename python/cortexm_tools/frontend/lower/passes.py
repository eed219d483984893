# SPDX-License-Identifier: Apache-2.0
"""The passes that make a program of the Cortex-M dialect: ExecuTorch's, and ours among them."""

from __future__ import annotations

from typing import Any

from .codes import code_pass, restore_pass
from .linear import linear_pass
from .norms import norm_pass
from .pads import lowering_without_pads, pad_pass
from .resize import resize_pass
from .spectrum import spectrum_pass
from .tables import mark_pass, table_pass
from .wide import boundary_pass, fusion_pass


def pass_list() -> list[Any]:
    """ExecuTorch's passes in their order, with tables instead of its clamps, and padding last."""
    from executorch.backends.arm._passes import FoldAndAnnotateQParamsPass
    from executorch.backends.cortex_m.passes.activation_fusion_pass import ActivationFusionPass
    from executorch.backends.cortex_m.passes.aten_to_cortex_m_pass import AtenToCortexMPass
    from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
    from executorch.backends.cortex_m.passes.quantized_clamp_activation_pass import (
        QuantizedClampActivationPass,
    )

    result: list[Any] = [spectrum_pass(), norm_pass(), mark_pass()]
    for each in CortexMPassManager.pass_list:
        if each is ActivationFusionPass:
            result.append(fusion_pass())
        if each is AtenToCortexMPass:
            result += [table_pass(), restore_pass(), linear_pass()]
            result += [lowering_without_pads(), pad_pass()]
        elif each is not QuantizedClampActivationPass:
            result.append(each)
        if each is FoldAndAnnotateQParamsPass:
            result += [boundary_pass(), resize_pass(), code_pass()]
    return result
