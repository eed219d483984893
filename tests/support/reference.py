# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's Python reference operators, with average pools as its device code computes them."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class ExactPools(TorchDispatchMode):
    """Average pools as CMSIS-NN rounds them: the sum of codes, half away from zero.

    ExecuTorch's Python reference averages in float and rounds ties to even, its device code does
    not (docs/numerics.md).
    """

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is not torch.ops.cortex_m.quantized_avg_pool2d.default:
            return func(*args, **(kwargs or {}))
        x, kernel, stride, padding, ceil_mode = args[:5]
        pool = {"kernel_size": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil_mode}
        total = torch.nn.functional.avg_pool2d(x.double(), **pool, divisor_override=1)
        count = torch.nn.functional.avg_pool2d(
            torch.ones_like(x, dtype=torch.double), **pool, divisor_override=1
        )
        rounded = torch.sign(total) * torch.floor(total.abs() / count + 0.5)
        return rounded.to(torch.int8).contiguous(memory_format=torch.channels_last)
