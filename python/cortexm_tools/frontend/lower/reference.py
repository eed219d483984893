# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's Python reference of a lowered program, in the forms and orders that it can run.

Every tensor is brought to the memory order that the program states. Padding goes by the order of what it
pads, and run one by one, operators give images of one row or column in another order.

The reference operators of the Cortex-M dialect fail on dilation: PyTorch has no dilated convolution
of int32, and the max pool refuses. The same integers come out without it:

* a kernel with its taps ``dilation`` apart is the larger kernel that has zeros in between;
* a max pool of int8, which PyTorch has for small images only, is one of float32;
* windows of a max pool with its taps ``dilation`` apart are windows side by side in an image made
  of the rows and columns that they read, in their order; outside the image lies -128.

Which of equal elements ``torch.topk`` takes PyTorch leaves open; here it is the first
(docs/numerics.md), so that what the indices lead to is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node


class Reference:
    """`module`, a lowered program, as a function that runs it on ExecuTorch's operators."""

    def __init__(self, module: GraphModule) -> None:
        self._run: Callable[..., Any] = _AsStated(module).run

    def __call__(self, *inputs: torch.Tensor) -> Any:
        return self._run(*inputs)


class _AsStated(Interpreter):
    """Runs every operator without dilation, and gives its result the order that its node states."""

    def run_node(self, n: Node) -> Any:
        result, stated = super().run_node(n), n.meta.get("val")
        if not isinstance(result, torch.Tensor) or not isinstance(stated, torch.Tensor):
            return result
        if n.op != "call_function" or result.shape != stated.shape:
            return result
        if result.stride() == stated.stride():
            return result
        moved = torch.empty_strided(result.shape, stated.stride(), dtype=result.dtype)
        return moved.copy_(result)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _dilation(target, args):
            args = _OPERATORS[target._schema.name](args)
        name = getattr(getattr(target, "_schema", None), "name", "")
        if name == "aten::max_pool2d_with_indices" and args[0].dtype is torch.int8:
            values, indices = super().call_function(target, (args[0].float(), *args[1:]), kwargs)
            return values.to(torch.int8), indices
        if name == "aten::topk":
            return _topk(*args, **kwargs)
        return super().call_function(target, args, kwargs)


def _topk(
    x: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Values and indices, in order whether `sorted` or not; equal ones keep theirs."""
    values, indices = torch.sort(x, stable=True, dim=dim, descending=largest)
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)


def _dilation(target: Node | Any, args: tuple[Any, ...]) -> bool:
    schema = getattr(target, "_schema", None)
    if schema is None or schema.name not in _OPERATORS:
        return False
    return tuple(args[_DILATION[schema.name]]) != (1, 1)


def _convolution(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with a weight [·, height, width, ·] that has zeros between its taps."""
    x, weight, bias, stride, padding, dilation, *rest = args
    height, width = (
        (size - 1) * step + 1 for size, step in zip(weight.shape[1:3], dilation, strict=True)
    )
    spread = torch.zeros((weight.shape[0], height, width, weight.shape[3]), dtype=weight.dtype)
    spread[:, :: dilation[0], :: dilation[1]] = weight
    return (x, spread, bias, stride, padding, [1, 1], *rest)


def _max_pool(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with an image [n, c, height, width] of the windows side by side."""
    x, kernel, stride, padding, dilation, *rest = args
    x = torch.nn.functional.pad(x, (padding[1],) * 2 + (padding[0],) * 2, value=-128)
    for axis in range(2):
        reach = (kernel[axis] - 1) * dilation[axis]
        count = (x.shape[2 + axis] - reach - 1) // stride[axis] + 1
        starts = torch.arange(count)[:, None] * stride[axis]
        read = starts + torch.arange(kernel[axis]) * dilation[axis]
        x = x.index_select(2 + axis, read.reshape(-1))
    return (x, kernel, kernel, [0, 0], [1, 1], *rest)


_OPERATORS: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {
    "cortex_m::quantized_conv2d": _convolution,
    "cortex_m::quantized_depthwise_conv2d": _convolution,
    "cortex_m::quantized_max_pool2d": _max_pool,
}

# Which argument is the dilation.
_DILATION = {
    "cortex_m::quantized_conv2d": 5,
    "cortex_m::quantized_depthwise_conv2d": 5,
    "cortex_m::quantized_max_pool2d": 4,
}
