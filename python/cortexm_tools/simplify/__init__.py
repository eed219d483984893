# SPDX-License-Identifier: Apache-2.0
"""Bit-exact rewrites of a graph, one per file, each with the proof of its exactness."""

from __future__ import annotations

from ..ir import DType, Graph
from ..ir.checks import check_graph
from ..ir.edit import remove_dead
from .clones import remove_clones
from .constants import fold_constants
from .int8_io import int8_io
from .layout import assign_layouts
from .linear import make_linear
from .outputs import own_outputs
from .pads import fold_pads
from .push import push_states
from .requantize import fuse_requantize
from .states import keep_codes

__all__ = ["int8_io", "simplify"]


def simplify(
    graph: Graph, *, io_int8: bool = False, io_int16: bool = False, io_codes: bool = False
) -> Graph:
    """Runs every rewrite until nothing changes, then fixes the layouts.

    Args:
        graph: a graph as read from a .pte.
        io_int8, io_int16, io_codes: drop the quantize operators at the inputs and the dequantize
            operators at the outputs, so that the application hands over codes of this type, or of
            any.
    """
    rewrites = (
        *(remove_clones, fold_constants, keep_codes, fuse_requantize, fold_pads, make_linear),
        *(push_states, remove_dead),
    )
    check_graph(graph)
    while True:
        before = graph
        for rewrite in rewrites:
            rewritten = rewrite(graph)
            graph = rewritten if rewritten == graph else check_graph(rewritten)
        if graph == before:
            break
    if io_int8 or io_int16 or io_codes:
        dtype = None if io_codes else DType.S16 if io_int16 else DType.S8
        graph = check_graph(int8_io(graph, dtype))
    return check_graph(remove_dead(assign_layouts(own_outputs(graph))))
