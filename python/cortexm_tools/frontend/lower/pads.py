# SPDX-License-Identifier: Apache-2.0
"""Lower padding last, when the memory order of what is padded is known.

``cortex_m::pad`` states the padding of images that lie in channels_last order as N, H, W, C, and of
others as N, C, H, W. ExecuTorch's pass reads the order from a tensor before the pass puts its own
operators in the place of PyTorch's. Convolutions and pools of the dialect always give channels_last;
PyTorch's follow their input, and one channel, one row and one column lie in several orders at once.
The padding then lands on other axes. Here the padding stays PyTorch's until all other operators
are lowered, and is replaced while the graph is traced, operand by operand.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .wide import with_wide


def lowering_without_pads() -> type[Any]:
    """ExecuTorch's AtenToCortexMPass, which leaves padding as it is."""
    from executorch.backends.cortex_m.passes.aten_to_cortex_m_pass import AtenToCortexMPass
    from executorch.exir.dialects._ops import ops

    class LoweringWithoutPads(AtenToCortexMPass):  # type: ignore[misc]
        """Its substitutions are those of the base class but one."""

    LoweringWithoutPads._DIALECT_SUBSTITUTIONS = {
        target: with_wide(function)
        for target, function in AtenToCortexMPass._DIALECT_SUBSTITUTIONS.items()
        if target is not ops.edge.aten.constant_pad_nd.default
    }
    for target in (ops.edge.aten.relu, ops.edge.aten.hardtanh, ops.edge.aten.clamp):
        LoweringWithoutPads._DIALECT_SUBSTITUTIONS[target.default] = with_wide(lambda *_: None)
    return LoweringWithoutPads


def pad_pass() -> type[Any]:
    """The class of the pass that lowers the padding of codes."""
    from executorch.backends.cortex_m.passes.passes_utils import to_physical_order
    from executorch.exir.dialects._ops import ops
    from executorch.exir.pass_base import ExportPass

    class PadPass(ExportPass):  # type: ignore[misc]
        """Turns ``aten::constant_pad_nd`` on codes into ``cortex_m::pad``."""

        def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
            if op is not ops.edge.aten.constant_pad_nd.default or not _is_quantized(meta):
                return super().call_operator(op, args, kwargs, meta)
            source, pads = args[0].data, [int(n) for n in args[1]]
            wide = meta["input_qparams"][0].dtype is torch.int16
            code = _code(float(args[2]) if len(args) > 2 else 0.0, meta["input_qparams"][0])
            if source.dim() > 4 or wide:  # the dialect's operator has four entries, of int8
                return super().call_operator(op, (args[0], pads, code), {}, meta)
            pads += [0] * (8 - len(pads))
            # Pairs from the last dimension on: each four in the order of the dimensions.
            before, after = (to_physical_order(pads[side::2][::-1], source) for side in (0, 1))
            target = ops.edge.cortex_m.pad.default
            return super().call_operator(target, (args[0], before, after, code), {}, meta)

    return PadPass


def _is_quantized(meta: Any) -> bool:
    return "input_qparams" in meta and 0 in meta["input_qparams"]


def _code(value: float, qparams: Any) -> int:
    """The code of a value, which may be infinite."""
    ends = torch.iinfo(qparams.dtype)
    if math.isinf(value):
        return ends.max if value > 0 else ends.min
    scaled = torch.tensor(value / float(qparams.scale) + int(qparams.zp))
    return int(torch.clamp(torch.round(scaled), ends.min, ends.max))
