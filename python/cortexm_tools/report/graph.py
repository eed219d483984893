# SPDX-License-Identifier: Apache-2.0
"""The graph as a list of layers with lines between them: what passes a layer by runs beside it.

Steps that do nothing on the device have no row: the lines lead through them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .tables import is_idle, operator_text

ROW, LANE, FIRST = 26, 11, 10  # pixels: a row's height, from lane to lane, and before the first


@dataclass(frozen=True)
class Node:
    """A row: an input, a layer or an output."""

    kind: str
    name: str
    layer: str
    text: str
    bands: bool


@dataclass(frozen=True)
class Edge:
    """From one row to a later one, as an SVG path."""

    path: str
    passes: bool


@dataclass(frozen=True)
class Drawing:
    """Rows from top to bottom, and the lines at their left."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: int
    row: int = ROW
    spine: int = 0

    @property
    def height(self) -> int:
        return ROW * len(self.nodes)


def graph_of(data: dict[str, Any]) -> Drawing:
    """The rows are inputs, layers and outputs in this order."""
    inputs, layers, outputs = data["inputs"], data["layers"], data["outputs"]
    nodes = [Node("input", f"input {k}", "", _type(one), False) for k, one in enumerate(inputs)]
    rows: dict[int, int] = {-1 - k: k for k in range(len(inputs))}  # of what layers read
    pairs = []
    for number, one in enumerate(layers):
        made_by = [rows[read] for read in one["reads"]]
        if made_by and is_idle(one):
            rows[number] = made_by[0]
            continue
        rows[number] = len(nodes)
        pairs += [(row, len(nodes)) for row in made_by]
        name = f"{number + 1}  {operator_text(one)}"
        nodes.append(Node("layer", name, one["layer"], one["outputs"][0], bool(one["bands_with"])))
    for k, made in enumerate(_makers(data)):
        nodes.append(Node("output", f"output {k}", "", _type(outputs[k]), False))
        if made is not None:
            pairs.append((rows[made], len(nodes) - 1))
    lanes = _lanes([pair for pair in pairs if pair[1] > pair[0] + 1])
    most = max(lanes.values(), default=0)
    spine = FIRST + LANE * most
    edges = [
        Edge(_path(pair, spine, spine - LANE * lanes.get(pair, 0)), pair in lanes)
        for pair in sorted(set(pairs))
    ]
    return Drawing(tuple(nodes), tuple(edges), spine + FIRST, spine=spine)


def _makers(data: dict[str, Any]) -> list[int | None]:
    """What makes each output, by the buffer it lies in: a layer, or -1 - k for input k."""
    made: list[int | None] = []
    for output in data["outputs"]:
        found = [
            tensor
            for buffer in data["buffers"]
            for tensor in buffer["tensors"]
            if tensor["name"] == output["name"]
        ]
        if not found:
            made.append(None)
        elif found[-1]["layer"] is None:
            names = [one["name"] for one in data["inputs"]]
            known = output["name"] in names
            made.append(-1 - names.index(output["name"]) if known else None)
        else:
            made.append(found[-1]["layer"])
    return made


def _lanes(pairs: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """A lane from 1 on for each line that passes rows, the shortest next to the rows."""
    lanes: dict[tuple[int, int], int] = {}
    for pair in sorted(set(pairs), key=lambda p: (p[1] - p[0], p)):
        taken = {lane for other, lane in lanes.items() if other[0] < pair[1] and pair[0] < other[1]}
        lanes[pair] = next(lane for lane in range(1, len(lanes) + 2) if lane not in taken)
    return lanes


def _path(pair: tuple[int, int], spine: int, lane: int) -> str:
    top, bottom = (ROW * row + ROW // 2 for row in pair)
    if lane == spine:
        return f"M{spine} {top}V{bottom}"
    bend = ROW // 2
    return (
        f"M{spine} {top}Q{lane} {top} {lane} {top + bend}V{bottom - bend}"
        f"Q{lane} {bottom} {spine} {bottom}"
    )


def _type(tensor: dict[str, Any]) -> str:
    return f"{tensor['dtype']} {'x'.join(map(str, tensor['shape'])) or 'scalar'}"
