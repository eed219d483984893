# SPDX-License-Identifier: Apache-2.0
"""Powers of transforms, and what is added, multiplied and taken the logarithm of."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch.fx import Node

from ...nodes import operator_name
from .basis import same_windows
from .chain import INNER, PAIR, Chain, Stage
from .finder import Finder, on, shape_of


@on("abs")
def _abs(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.SPECTRUM, Stage.COMPLEX_POWERS, Stage.POWERS)
    if chain is None:
        return None
    return chain.having(
        stage=Stage.POWERS, exponent=1 if chain.stage is Stage.SPECTRUM else chain.exponent
    )


@on("real imag")
def _real(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    is_real = operator_name(node) == "aten::real"
    chain = find.chain(args["self"], Stage.SPECTRUM, Stage.COMPLEX_POWERS)
    if chain is None:
        return None
    if chain.stage is Stage.COMPLEX_POWERS:
        return chain.having(stage=Stage.POWERS) if is_real else None
    return chain.having(stage=Stage.REAL if is_real else Stage.IMAGINARY)


@on("view_as_real")
def _view_as_real(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.SPECTRUM)
    return chain and chain.having(stage=Stage.PAIR, axes=(*chain.axes, PAIR))


@on("complex")
def _complex(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    real, imaginary = (
        find.chain(args["real"], Stage.REAL),
        find.chain(args["imag"], Stage.IMAGINARY),
    )
    if real is None or imaginary is None or not _belong(real, imaginary):
        return None
    return real.having(stage=Stage.SPECTRUM)


@on("view_as_complex")
def _view_as_complex(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.PAIR)
    if chain is None or chain.axes[-1] != PAIR:
        return None
    return chain.having(stage=Stage.SPECTRUM).without(-1, False)


@on("hypot")
def _hypot(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    pair = find.chain(args["self"]), find.chain(args["other"])
    parts = {chain.stage: chain for chain in pair if chain is not None}
    if set(parts) != {Stage.REAL, Stage.IMAGINARY}:
        return None
    real, imaginary = parts[Stage.REAL], parts[Stage.IMAGINARY]
    return real.having(stage=Stage.POWERS, exponent=1) if _belong(real, imaginary) else None


@on("linalg_vector_norm norm")
def _norm(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    """Of real and imaginary part."""
    chain, dims = find.chain(args["self"], Stage.PAIR), args.get("dim")
    order = find.number(args.get("ord", args.get("p", 2)))
    dims = [dims] if isinstance(dims, int) else dims
    if chain is None or order != 2 or not dims or len(dims) != 1 or chain.axes[dims[0]] != PAIR:
        return None
    return chain.having(stage=Stage.POWERS, exponent=1).without(dims[0], args.get("keepdim", False))


@on("_conj")
def _conj(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.SPECTRUM)
    return chain and chain.having(stage=Stage.CONJUGATE)


@on("square")
def _square(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"])
    return chain and chain.squared()


@on("pow")
def _pow(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain, exponent = find.chain(args["self"]), find.number(args["exponent"])
    if chain is None or exponent not in (0.5, 2.0):
        return None
    return chain.squared() if exponent == 2 else chain.rooted()


@on("sqrt")
def _sqrt(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"])
    return chain and chain.rooted()


@on("sum mean")
def _sum(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain, dims = find.chain(args["self"], Stage.PAIR_SQUARED, Stage.POWERS), args.get("dim")
    if chain is None or not dims or len(dims) != 1:
        return None
    is_mean = operator_name(node) == "aten::mean"
    if chain.stage is Stage.POWERS:  # the energy of a frame
        if chain.axes[dims[0]] != INNER:
            return None
        bins = chain.bins[1] - chain.bins[0]
        row = np.full((1, bins), 1.0 / bins if is_mean else 1.0)
        return chain.summed(row).without(dims[0], args["keepdim"])
    if is_mean or chain.axes[dims[0]] != PAIR:
        return None
    return chain.having(stage=Stage.POWERS, exponent=2).without(dims[0], args["keepdim"])


@on("mul div")
def _scaled(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    a, b = args["self"], args["other"]
    divides = operator_name(node).startswith("aten::div")
    if not divides:
        if a is b and isinstance(a, Node):
            chain = find.chain(a)
            return chain and chain.squared()
        both = find.chain(a), find.chain(b)
        stages = {chain.stage for chain in both if chain is not None}
        if stages == {Stage.SPECTRUM, Stage.CONJUGATE}:
            one = next(each for each in both if each and each.stage is Stage.SPECTRUM)
            same = all(each is not None and one.is_beside(each) for each in both)
            return one.having(stage=Stage.COMPLEX_POWERS, exponent=2) if same else None
        if find.value(a) is not None or not isinstance(a, Node):
            a, b = b, a
    if args.get("rounding_mode") is not None:
        return None
    chain = find.chain(a, Stage.SOUND) or find.chain(a)
    factor = find.number(b)
    if chain is None:
        return None
    if factor is not None:
        return chain.times(1.0 / factor if divides else factor)
    values = find.value(b)
    row = None if values is None else chain.along_inner(values)
    if row is None:
        return None
    if chain.stage is Stage.SOUND:  # a single frame times its window
        chain = chain.as_frame(shape_of(a)[-1])
    return chain.times(1.0 / row if divides else row)


@on("add sub rsub")
def _added(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    a, b, alpha = args["self"], args["other"], float(args["alpha"])
    name = operator_name(node).removeprefix("aten::").removesuffix("_")
    if name == "add" and isinstance(a, Node) and isinstance(b, Node) and alpha == 1:
        pair = find.chain(a), find.chain(b)
        stages = {chain.stage for chain in pair if chain is not None}
        if stages == {Stage.REAL_SQUARED, Stage.IMAGINARY_SQUARED}:
            real, imaginary = sorted((c for c in pair if c), key=lambda c: c.stage.value)[::-1]
            return _joined(real, imaginary)
        if find.value(a) is not None:
            a, b = b, a
    chain = find.chain(a)
    if chain is None:
        return None
    if name == "rsub":
        chain, alpha = chain.times(-1.0), 1.0 / alpha if alpha == 1 else 0.0
    if chain is None or not alpha:
        return None
    sign = -alpha if name == "sub" else alpha
    number = find.number(b)
    if number is not None:
        return chain.plus(sign * number)
    values = find.value(b)
    row = None if values is None else chain.along_inner(values)
    return None if row is None else chain.plus(sign * row)


def _joined(a: Chain, b: Chain) -> Chain | None:
    """The squares of real and imaginary parts added."""
    real, imaginary = (a, b) if a.stage is Stage.REAL_SQUARED else (b, a)
    if not _belong(real, imaginary):
        return None
    return real.having(stage=Stage.POWERS, exponent=2)


def _belong(real: Chain, imaginary: Chain) -> bool:
    """Whether two parts are those of one spectrum."""
    return real.is_beside(imaginary) and same_windows(real.window, imaginary.window)


@on("neg")
def _neg(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"])
    return chain and chain.times(-1.0)


@on("clamp clamp_min maximum")
def _bounded(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    if operator_name(node).startswith("aten::maximum"):
        a, b = args["self"], args["other"]
        x, low = (b, find.number(a)) if find.number(a) is not None else (a, find.number(b))
    else:
        x, low = args["self"], find.number(args["min"])
        if args.get("max") is not None:
            return None
    chain = find.chain(x, Stage.POWERS, Stage.SUMS)
    return None if chain is None or low is None else chain.at_least(low)


@on("log log2 log10 log1p")
def _log(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.POWERS, Stage.SUMS)
    name = operator_name(node).removeprefix("aten::").removesuffix("_")
    if chain is not None and name == "log1p":
        chain = chain.plus(1.0)
    bases = {"log2": 2.0, "log10": 10.0}
    return chain and chain.logarithm(bases.get(name))
