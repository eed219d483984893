# SPDX-License-Identifier: Apache-2.0
"""Models over windows as streams: each call takes the new frames and keeps what it needs as state.

`trace` follows time through the graph, `build` makes the graph of a call, `check_stream` runs it beside the
model over windows. docs/streaming.md says what a stream is.
"""

from __future__ import annotations

from ..ir import Graph
from ..ir.checks import check_graph
from ..ir.edit import remove_dead
from ..options.stream import Stream
from .build import build, with_silence
from .check import Streamed, check_stream, streamed
from .prepare import prepare
from .trace import trace

__all__ = ["Streamed", "check_stream", "stream_graph"]


def stream_graph(graph: Graph, stream: Stream) -> Streamed:
    """A simplified graph over windows as a stream.

    Raises:
        CortexMError: it cannot be: names the input, or the layers, and what to do.
    """
    found = trace(prepare(graph, stream), stream)
    made = check_graph(remove_dead(build(found)))
    dims = {found.graph.tensors[index].name: known.dim for index, known in found.columns.items()}
    return streamed(found, check_graph(with_silence(made, dims)))
