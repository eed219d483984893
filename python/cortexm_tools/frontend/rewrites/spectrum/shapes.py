# SPDX-License-Identifier: Apache-2.0
"""What puts elements elsewhere, or leaves some out."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from ...nodes import operator_name
from .chain import PAIR, Chain, Stage
from .finder import Finder, on, shape_of


@on("transpose permute t numpy_T mT unsqueeze squeeze view reshape _unsafe_view flatten "
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
    if chain is None or args.get("step", 1) != 1:
        return None
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
    parts = {
        Stage.PAIR: (Stage.REAL, Stage.IMAGINARY),
        Stage.PAIR_SQUARED: (Stage.REAL_SQUARED, Stage.IMAGINARY_SQUARED),
    }
    stage = parts[chain.stage][args["index"] % 2]
    return chain.having(stage=stage).without(args["dim"], False)
