# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch as programs of portable operators, without the Cortex-M backend."""

from __future__ import annotations

import torch

from cortexm_tools.frontend.lower.replay import quick_passes
from cortexm_tools.frontend.quiet import import_executorch, quiet


def portable_pte(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> bytes:
    """The .pte that ExecuTorch makes of a module that is not quantized."""
    import_executorch()
    from executorch.exir import EdgeCompileConfig, to_edge

    config = EdgeCompileConfig(_check_ir_validity=False)  # as the Cortex-M backend has it
    with quiet(), quick_passes():
        exported = torch.export.export(module, inputs)
        return bytes(to_edge(exported, compile_config=config).to_executorch().buffer)
