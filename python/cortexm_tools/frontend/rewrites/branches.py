# SPDX-License-Identifier: Apache-2.0
"""Sums of convolutions of one tensor, as one convolution.

A convolution is linear in its kernel: what RepVGG (Ding et al., 2021, arXiv:2101.03697), MobileOne and RepViT
train as branches of several sizes, a normalization and the tensor itself, which are added, is a convolution
with the sum of their kernels, each with zeros around. Their own code does that for a trained network if it is
asked; here it is done to whatever has this form.

The sum's weights share a scale where each branch had its own: beside the tensor itself, whose weight is 1,
those of many inputs lose the more. So a sum is left alone where, as estimated here, that is worse than what
the codes of each branch and of the sums in between lose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ...options.precision import Precision
from .builder import Builder, numbers, shape_of
from .normalization import channel_factors

_aten = torch.ops.aten

_CONVOLUTIONS: dict[Any, int] = {_aten.conv1d.default: 1, _aten.conv2d.default: 2}

# Quantized values lie within some four standard deviations.
_RANGE = 8.0


@dataclass(frozen=True)
class _Branch:
    """A term of a sum as a convolution of `source`.

    Attributes:
        kernel: [out_c, in_c / groups, *window].
        groups: None of a tensor itself and of its normalization, whose kernel [channels, 1, *ones] is one of
            any groups.
    """

    node: Node
    source: Node
    kernel: torch.Tensor
    bias: torch.Tensor
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int | None = None

    @property
    def window(self) -> tuple[int, ...]:
        return tuple(self.kernel.shape[2:])

    @property
    def growth(self) -> tuple[int, ...]:
        """By how much its results are more than what they are computed from, without a stride."""
        sides = zip(self.padding, self.dilation, self.window, strict=True)
        return tuple(2 * p - d * (k - 1) for p, d, k in sides)


def join_branches(module: GraphModule, precision_of: Callable[[Node], object]) -> None:
    """Convolutions of one tensor that are added up become one, in place.

    Args:
        precision_of: of a call; None for float.
    """
    for node in reversed(list(module.graph.nodes)):
        if not _is_sum(node) or (len(node.users) == 1 and _is_sum(next(iter(node.users)))):
            continue
        terms = list(_terms(node))
        calls = [term for term in terms if term.op == "call_function"]
        if any(precision_of(each) != precision_of(node) for each in calls):
            continue
        for branches in _branches(module, terms):
            result = _joined(Builder(module, node), branches, precision_of(node))
            if result is not None:
                joined = [branch.node for branch in branches]
                result.meta["val"] = node.meta["val"]
                for other in (term for term in terms if term not in joined):
                    result = Builder(module, node)(_aten.add.Tensor, result, other)
                    result.meta["val"] = node.meta["val"]
                node.replace_all_uses_with(result)
                break
    module.graph.eliminate_dead_code()
    module.recompile()


def _is_sum(node: Node) -> bool:
    """Whether a call adds two tensors of one shape."""
    if node.target is not _aten.add.Tensor or node.kwargs.get("alpha", 1) != 1:
        return False
    shape = shape_of(node)
    return shape is not None and all(shape_of(each) == shape for each in node.args)


def _terms(node: Node) -> Iterator[Node]:
    """What is added up in the end, through sums that nothing else reads, without zeros."""
    for each in node.args:
        assert isinstance(each, Node)
        while each.target is _aten.add.Tensor and 0 in each.args and len(each.users) == 1:
            (each,) = each.all_input_nodes
        if _is_sum(each) and len(each.users) == 1:
            yield from _terms(each)
        else:
            yield each


def _branches(module: GraphModule, terms: list[Node]) -> Iterator[list[_Branch]]:
    """Terms that are convolutions of one tensor with as many results; all of them, and then without the
    tensor itself and its normalization."""
    convolutions = [found for term in terms if (found := _convolution(module, term)) is not None]
    for first in convolutions:
        others = (_of_channels(module, term, first) for term in terms)
        alike = [
            each
            for each in (*convolutions, *others)
            if each is not None
            and each.source is first.source
            and (each.stride, each.growth) == (first.stride, first.growth)
            and each.groups in (None, first.groups)
        ]
        if len({each.node for each in alike}) == len(alike):
            yield alike
            yield [each for each in alike if each.groups is not None]


def _convolution(module: GraphModule, node: Node) -> _Branch | None:
    """A convolution with constant weights that nothing else reads."""
    dims = _CONVOLUTIONS.get(node.target)
    if dims is None or len(node.users) != 1:
        return None
    build = Builder(module, node)
    args = build.arguments()
    kernel, bias = build.value(args["weight"]), build.value(args["bias"])
    if kernel is None or (bias is None and args["bias"] is not None):
        return None
    if bias is None:
        bias = torch.zeros(kernel.shape[0])
    stride, padding, dilation = (
        tuple(numbers(args[name], dims)) for name in ("stride", "padding", "dilation")
    )
    return _Branch(node, args["input"], kernel, bias, stride, padding, dilation, args["groups"])


def _of_channels(module: GraphModule, node: Node, beside: _Branch) -> _Branch | None:
    """A tensor, or its normalization, beside a convolution of it."""
    ones = (1,) * len(beside.stride)
    zeros = (0,) * len(beside.stride)
    channels = beside.kernel.shape[0]
    factors = torch.ones(channels), torch.zeros(channels)
    source = node
    if node.target is _aten.batch_norm.default and len(node.users) == 1:
        found = channel_factors(Builder(module, node))
        if found is None:
            return None
        factors, source = found, node.args[0]  # type: ignore[assignment]
    a, b = (each.expand(channels) for each in factors)
    return _Branch(node, source, a.reshape(channels, 1, *ones), b, ones, zeros, ones)


def _joined(build: Builder, branches: list[_Branch], precision: object) -> Node | None:
    """The sum of several branches as one convolution; None if that is more work, or loses more."""
    if len(branches) < 2:
        return None
    first = branches[0]
    sides = zip(*((each.window, each.dilation) for each in branches), strict=True)
    windows, dilations = (list(zip(*each, strict=True)) for each in sides)
    dilation = []
    for along, apart in zip(windows, dilations, strict=True):
        several = {d for k, d in zip(along, apart, strict=True) if k > 1}
        if len(several) > 1:
            return None
        dilation.append(several.pop() if several else 1)
    padding = [max(each) for each in zip(*(branch.padding for branch in branches), strict=True)]
    window = [
        (2 * p - grown) // d + 1
        for p, grown, d in zip(padding, first.growth, dilation, strict=True)
    ]
    kernels = []
    for branch in branches:
        begins = []
        for most, p, d in zip(padding, branch.padding, dilation, strict=True):
            if (most - p) % d != 0:
                return None
            begins.append((most - p) // d)
        kernels.append(_around(branch, begins, [*first.kernel.shape[:2], *window]))
    taps = sum(math.prod(each.window) for each in branches if each.groups is not None)
    if math.prod(window) > taps or _loses_more(kernels, branches, precision):
        return None
    bias = sum(branch.bias for branch in branches)
    assert isinstance(bias, torch.Tensor)
    call = build(
        first.node.target,
        first.source,
        build.constant(sum(kernels[1:], kernels[0])),
        build.constant(bias),
        list(first.stride),
        padding,
        dilation,
        first.groups,
    )
    largest = max(branches, key=lambda each: math.prod(each.window))
    call.meta = {k: v for k, v in largest.node.meta.items() if k not in ("val", "tensor_meta")}
    return call


def _around(branch: _Branch, begins: list[int], shape: list[int]) -> torch.Tensor:
    """A branch's kernel among zeros, its window from `begins` on; of channels by themselves among those of
    groups."""
    whole = torch.zeros(shape)
    part = whole
    for dim, (begin, size) in enumerate(zip(begins, branch.window, strict=True), 2):
        part = part.narrow(dim, begin, size)
    if branch.groups is None:
        outputs = torch.arange(shape[0])
        part[outputs, outputs % shape[1]] = branch.kernel[:, 0]
    else:
        part.copy_(branch.kernel)
    return whole


def _loses_more(kernels: list[torch.Tensor], branches: list[_Branch], precision: object) -> bool:
    """Whether rounding the sum of the kernels costs more than rounding each, its results, and the sums in
    between. Of inputs that are as large everywhere and independent, in twelfths of their square."""
    if precision is None:
        return False
    bits = precision if isinstance(precision, Precision) else Precision()
    most_weight = 2 ** (bits.weights - 1) - 1
    step = _RANGE / (2**bits.activations - 1)

    def of_weights(kernel: torch.Tensor) -> float:
        rows = kernel.flatten(1)
        return float((rows.abs().amax(1) / most_weight).square().sum()) * rows.shape[1]

    def of_results(kernel: torch.Tensor) -> float:
        return float(kernel.square().sum() * step**2)

    apart = 0.0
    for kernel, branch in zip(kernels, branches, strict=True):
        if not _is_tensor_itself(branch):
            window = math.prod(branch.window) / math.prod(kernel.shape[2:])
            apart += of_weights(kernel) * window + of_results(kernel)
    sums = list(accumulate(kernels))
    apart += sum(of_results(each) for each in sums[1:-1])
    return of_weights(sums[-1]) > apart


def _is_tensor_itself(branch: _Branch) -> bool:
    return branch.groups is None and bool((branch.kernel == 1).all() and (branch.bias == 0).all())
