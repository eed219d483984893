# SPDX-License-Identifier: Apache-2.0
"""Bit-exact rewrites of a graph, one per file, each with the proof of its exactness."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import DType, Graph
from ..ir.checks import check_graph
from ..ir.edit import remove_dead
from .bytes import fold_bytes
from .channels import remove_channels
from .choices import quantize_choices
from .clamps import join_clamps
from .clones import remove_clones
from .constants import fold_constants
from .embeddings import share_tables
from .int8_io import int8_io
from .layout import assign_layouts
from .linear import make_linear
from .memories import read_memories
from .multiples import split_multiples
from .outputs import own_outputs
from .pads import fold_pads
from .push import push_states
from .requantize import fuse_requantize
from .rings import keep_rings
from .shuffles import shuffle_once
from .states import keep_codes
from .strides import move_operands_once
from .taps import fit_windows

__all__ = ["Simplified", "int8_io", "simplified", "simplify"]


@dataclass(frozen=True)
class Simplified:
    """A graph after all rewrites, and how many channels of its layers' results were removed because they
    make no difference."""

    graph: Graph
    channels_removed: int


def simplify(
    graph: Graph,
    *,
    io_int8: bool = False,
    io_int16: bool = False,
    io_codes: bool = False,
    io_uint8: bool = False,
) -> Graph:
    """The graph alone of `simplified`."""
    return simplified(
        graph, io_int8=io_int8, io_int16=io_int16, io_codes=io_codes, io_uint8=io_uint8
    ).graph


def simplified(
    graph: Graph,
    *,
    io_int8: bool = False,
    io_int16: bool = False,
    io_codes: bool = False,
    io_uint8: bool = False,
    keep_channels: bool = False,
) -> Simplified:
    """Runs every rewrite until nothing changes, then fixes the layouts.

    Args:
        graph: a graph as read from a .pte.
        io_int8, io_int16, io_codes: drop the quantize operators at the inputs and the dequantize
            operators at the outputs, so that the application hands over codes of this type, or of
            any.
        io_uint8: the same, with codes of int8 at the inputs as bytes, 128 larger.
        keep_channels: leave channels that make no difference, and tables as they are: with other
            weights they may be others.
    """
    rewrites = (
        remove_clones, fold_constants, keep_codes, quantize_choices, fuse_requantize, join_clamps,
        fold_pads, fit_windows, make_linear, fold_bytes, remove_dead, read_memories, push_states,
        remove_dead,
    )  # fmt: skip
    check_graph(graph)
    while True:
        before = graph
        for rewrite in rewrites:
            rewritten = rewrite(graph)
            graph = rewritten if rewritten == graph else check_graph(rewritten)
        if graph == before:
            break
    graph, removed = (graph, 0) if keep_channels else remove_channels(graph)
    check_graph(graph)
    if not keep_channels:
        graph = check_graph(remove_dead(share_tables(graph)))
    if io_int8 or io_int16 or io_codes:
        dtype = None if io_codes else DType.S16 if io_int16 else DType.S8
        graph = check_graph(int8_io(graph, dtype))
    if io_uint8:
        graph = check_graph(remove_dead(fold_bytes(int8_io(graph, None, as_bytes=True))))
    graph = check_graph(remove_dead(keep_rings(graph)))
    graph = check_graph(remove_dead(split_multiples(graph)))
    graph = check_graph(remove_dead(move_operands_once(graph)))
    graph = check_graph(remove_dead(shuffle_once(graph)))
    graph = check_graph(remove_dead(assign_layouts(own_outputs(graph))))
    return Simplified(graph, removed)
