# SPDX-License-Identifier: Apache-2.0
"""Frames of a sound and their transforms, by functions or by matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch.fx import Node

from ....ir.log_mel import Reals
from ....ir.spectrum import SIZES
from ...nodes import operator_name
from .basis import basis_of
from .chain import FRAME, INNER, PAIR, Chain, Stage
from .finder import Finder, on, shape_of


@on("unfold")
def _unfold(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.SOUND)
    if chain is None or chain.axes[args["dimension"]] != INNER:
        return None
    frames = (shape_of(args["self"])[-1] - args["size"]) // args["step"] + 1
    return chain.framed(node, args["size"], args["step"], frames)


@on("stft")
def _stft(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.SOUND)
    points, length = args["n_fft"], args["win_length"] or args["n_fft"]
    window = np.ones(length) if args["window"] is None else find.value(args["window"])
    if chain is None or window is None or points not in SIZES or args["onesided"] is False:
        return None
    before = (points - len(window)) // 2
    window = np.pad(window, (before, points - len(window) - before))
    hop = args["hop_length"] or points // 4
    frames = (shape_of(args["self"])[-1] - points) // hop + 1
    axes = tuple(name for name in chain.axes if name not in (None, INNER))
    sized = (*axes, INNER, FRAME) if frames > 1 else (*axes, INNER)
    chain = chain.having(hop=hop, frames=frames, window=window * chain.gain, gain=1.0)
    chain = chain.transformed(points, points**-0.5 if args["normalized"] else 1.0)
    if args["return_complex"] is False:
        return chain.having(stage=Stage.PAIR, axes=sized).named(node, (*sized, PAIR))
    return chain.named(node, sized)


@on("fft_rfft")
def _rfft(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.FRAMES, Stage.SOUND)
    if chain is None or chain.axes[args["dim"]] != INNER:
        return None
    chain = chain.as_frame(shape_of(args["self"])[-1])
    points = args["n"] or len(chain.window)
    factor = {"ortho": points**-0.5, "forward": 1.0 / points}.get(args["norm"] or "", 1.0)
    if points not in SIZES:
        return None
    return chain.having(window=chain.window[:points]).transformed(points, factor)


@on("conv1d")
def _convolution(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain, weight = find.chain(args["input"], Stage.POWERS), find.value(args["weight"])
    if chain is not None and weight is not None:  # one by one
        rows, plain = weight[..., 0], weight.shape[-1] == 1 and args["groups"] == 1
        unpadded = args["padding"] in ([0], 0) and args["stride"] in ([1], 1)
        if args["bias"] is not None or not plain or not unpadded or chain.axes[-2] != INNER:
            return None
        return _bands(chain, node, rows)
    chain = find.chain(args["input"], Stage.SOUND)
    plain = [args["padding"], args["dilation"], args["groups"]] in ([[0], [1], 1], [0, 1, 1])
    if chain is None or weight is None or args["bias"] is not None or not plain:
        return None
    shape = shape_of(args["input"])
    if len(shape) != 3 or shape[1] != 1 or chain.axes[-1] != INNER:
        return None
    hop = int(args["stride"][0] if isinstance(args["stride"], (list, tuple)) else args["stride"])
    frames = (shape[-1] - weight.shape[-1]) // hop + 1
    chain = chain.having(
        stage=Stage.FRAMES, hop=hop, frames=frames, window=np.full(weight.shape[-1], chain.gain)
    )
    names = [chain.axes[0], INNER, FRAME]
    return _by_matrix(chain.having(axes=tuple(names)), node, weight[:, 0])


def _by_matrix(chain: Chain, node: Node, rows: Reals) -> Chain | None:
    """Frames times rows of cosines and sines."""
    found = basis_of(rows)
    if found is None or len(chain.window) != rows.shape[1]:
        return None
    kind, window, points, bins = found
    chain = chain.having(window=chain.window * window, points=points, bins=(0, bins), stage=kind)
    return chain.fitted(node)


@on("matmul mm bmm linear")
def _product(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    if operator_name(node) == "aten::linear":
        if args["bias"] is not None:
            return None
        x, matrix, behind = args["input"], find.value(args["weight"]), True
        matrix = None if matrix is None else matrix.T
    else:
        left, right = node.args[:2]
        behind = find.value(right) is not None
        x, matrix = (left, find.value(right)) if behind else (right, find.value(left))
    chain = find.chain(x, Stage.FRAMES, Stage.POWERS)
    if chain is None or matrix is None:
        return None
    matrix = matrix.reshape(matrix.shape[-2:])  # [inner, other] behind, [other, inner] before
    rows = matrix.T if behind else matrix
    if chain.axes[-1 if behind else -2] != INNER:
        return None
    if chain.stage is Stage.FRAMES:
        return _by_matrix(chain, node, rows)
    return _bands(chain, node, rows)


def _bands(chain: Chain, node: Node, rows: Reals) -> Chain | None:
    """Powers times rows of weights."""
    if rows.min() < 0 or rows.shape[1] != chain.bins[1] - chain.bins[0]:
        return None
    return chain.summed(rows).fitted(node)


@on("einsum")
def _einsum(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    """Powers or frames times a matrix."""
    inputs, _, result = str(args["equation"]).replace(" ", "").partition("->")
    names, operands = inputs.split(","), args["tensors"]
    if len(operands) != 2 or not result:
        return None
    for number, name in enumerate(names):
        if "..." in name:  # capitals stand for the dimensions before
            count = len(shape_of(operands[number])) - len(name) + 3
            before = "".join(chr(ord("A") + k) for k in range(count))
            names[number] = name.replace("...", before)
            result = result.replace("...", before)
    if find.value(operands[0]) is not None:
        names, operands = names[::-1], operands[::-1]
    chain, matrix = find.chain(operands[0], Stage.FRAMES, Stage.POWERS), find.value(operands[1])
    if chain is None or matrix is None or matrix.ndim != 2:
        return None
    (summed,), (made,) = set(names[0]) & set(names[1]), set(names[1]) - set(names[0])
    letters = dict(zip(names[0], chain.axes, strict=True))
    if letters[summed] != INNER or sorted(result) != sorted(names[0].replace(summed, made)):
        return None
    rows = matrix if names[1] == made + summed else matrix.T
    letters[made] = INNER
    chain = chain.having(axes=tuple(letters[letter] for letter in result))
    return (_by_matrix if chain.stage is Stage.FRAMES else _bands)(chain, node, rows)
