# SPDX-License-Identifier: Apache-2.0
"""What puts elements elsewhere, or leaves some out."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from ...nodes import operator_name
from .chain import INNER, PAIR, PARTS_OF, Axis, Chain, Stage
from .finder import Finder, on, shape_of


@on("transpose permute t numpy_T mT unsqueeze squeeze view reshape _unsafe_view flatten unflatten "
     "contiguous clone detach alias expand")  # fmt: skip
def _moved(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    name = operator_name(node).removeprefix("aten::")
    source = args["self"]
    chain, rank = find.chain(source, Stage.SOUND), len(shape_of(source))
    if not (isinstance(source, Node) and source in find.chains):
        # A view of a sound is one, as long as the samples come last.
        if chain is None or name not in ("unsqueeze", "squeeze", "view", "reshape"):
            return None
    else:
        chain = find.chains[source]
        if (parted := _parted(chain, node, shape_of(source))) is not None:
            return parted
    order = list(range(rank))
    if name in ("transpose", "mT", "t", "numpy_T"):
        a, b = (args["dim0"], args["dim1"]) if name == "transpose" else (rank - 2, rank - 1)
        if name == "numpy_T" and rank != 2:
            return None
        order[a], order[b] = order[b], order[a]
    elif name == "permute":
        order = [dim % rank for dim in args["dims"]]
    return chain.having(axes=tuple(chain.axes[dim] for dim in order)).named_like(
        node, shape_of(source), order
    )


@on("slice narrow")
def _slice(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.SOUND) or find.chain(args["self"])
    if chain is None:
        return None
    if args.get("step", 1) != 1:
        return _each_second(chain, node, args)
    size = shape_of(args["self"])[args["dim"]]
    begin = args["start"] or 0
    end = begin + args["length"] if "length" in args else args["end"]
    end = size if end is None else min(end + size if end < 0 else end, size)
    return chain.cut(args["dim"], begin + size if begin < 0 else begin, end)


@on("select")
def _select(find: Finder, node: Node, args: dict[str, Any]) -> Chain | None:
    chain = find.chain(args["self"], Stage.PAIR, Stage.PAIR_SQUARED)
    if chain is None or chain.axes[args["dim"]] != PAIR:
        return None
    stage = PARTS_OF[chain.stage][args["index"] % 2]
    return chain.having(stage=stage).without(args["dim"], False)


_APART = {
    Stage.PARTS: ((PAIR, INNER), Stage.PAIR),
    Stage.PARTS_SQUARED: ((PAIR, INNER), Stage.PAIR_SQUARED),
    Stage.TURNS: ((INNER, PAIR), Stage.PAIR),
    Stage.TURNS_SQUARED: ((INNER, PAIR), Stage.PAIR_SQUARED),
}


def _parted(chain: Chain, node: Node, shape: tuple[int, ...]) -> Chain | None:
    """A view in which real and imaginary parts have a dimension."""
    if chain.stage not in _APART or INNER not in chain.axes:
        return None
    dim, new = chain.axes.index(INNER), shape_of(node)
    names, stage = _APART[chain.stage]
    bins = chain.bins[1] - chain.bins[0]
    sizes = tuple(2 if name == PAIR else bins for name in names)
    if new != (*shape[:dim], *sizes, *shape[dim + 1 :]):
        return None
    axes: tuple[Axis, ...] = (*chain.axes[:dim], *names, *chain.axes[dim + 1 :])
    return chain.having(stage=stage, axes=axes)


def _each_second(chain: Chain, node: Node, args: dict[str, Any]) -> Chain | None:
    """Real or imaginary parts of those in turn."""
    if chain.stage not in (Stage.TURNS, Stage.TURNS_SQUARED) or args["step"] != 2:
        return None
    begin, bins = args["start"] or 0, chain.bins[1] - chain.bins[0]
    if chain.axes[args["dim"]] != INNER or begin not in (0, 1):
        return None
    if shape_of(node)[args["dim"]] != bins:
        return None
    return chain.having(stage=PARTS_OF[chain.stage][begin])
