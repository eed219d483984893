# SPDX-License-Identifier: Apache-2.0
"""Refuses a dimension that is not time: what layers take for channels, or for a batch."""

from __future__ import annotations

from ..errors import CortexMError
from ..ir import Graph, Layout, Op, ops
from ..options.stream import Stream
from .columns import Columns
from .trace import Trace, follow


def check_dimension(graph: Graph, stream: Stream) -> None:
    """The stream's dimension is neither channels nor a batch to the layers that read it.

    Of images it is channels where a layer has it in dimension 1 and they have more than one pixel; of
    sequences, where a recurrent layer has it in the last one. It is a batch if it is dimension 0 and no
    layer reads more than one step of it: images of a window that something looks at together are time.

    Raises:
        CortexMError: names the layer.
    """
    found = follow(graph, stream)
    for number, op in enumerate(graph.ops):
        known = found.columns.get(op.inputs[0]) if op.inputs else None
        if known is not None and number not in found.forms and _are_channels(op, known, graph):
            raise _error(graph, stream, f"the channels of {op.kind}, which reads all of them", op)
    if stream.dim == 0 and _is_batch(found):
        first = next((op for n, op in enumerate(graph.ops) if n in found.forms), None)
        what = "a batch: no layer reads more than one step of it, as"
        said = f"{what} {first.kind}" if first else "a batch: no layer reads it"
        raise _error(graph, stream, said, first)


def _are_channels(op: Op, known: Columns, graph: Graph) -> bool:
    shape = graph.tensors[op.inputs[0]].shape
    if isinstance(op.attrs, ops.RecurrentAttrs):
        return known.dim == len(shape) - 1
    if op.attrs.traits.layout not in (Layout.IMAGE, Layout.EITHER_IMAGE) or len(shape) != 4:
        return False
    return known.dim == 1 and shape[2:] != (1, 1)


def _is_batch(found: Trace) -> bool:
    """Whether each result's step comes of the same step of the operands, and all results have steps."""
    return all(
        index in found.columns and found.columns[index].dim == 0 for index in found.graph.outputs
    ) and all(form.reads_one and form.stride == 1 for form in found.forms.values())


def _error(graph: Graph, stream: Stream, what: str, op: Op | None) -> CortexMError:
    tensor = graph.tensors[graph.inputs[0]]
    others = [
        str(dim)
        for dim, extent in enumerate(tensor.shape)
        if dim != stream.dim and extent > stream.hop
    ]
    choice = f"is it {' or '.join(others)}? " if others else ""
    return CortexMError(
        f"dimension {stream.dim} of input {tensor.name!r}, of shape {tensor.shape}, is not time: "
        f"it is {what}",
        where=str(op.layer) if op is not None else graph.name,
        hint=f"write STREAM DIM:{stream.hop} with the dimension that is time; {choice}"
        "frames that are channels are kept in a buffer: docs/state.md",
    )
