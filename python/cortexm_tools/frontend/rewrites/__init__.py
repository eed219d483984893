# SPDX-License-Identifier: Apache-2.0
"""Say a captured model in the operators that stay in int8.

ExecuTorch's quantizer knows some operators in some forms and leaves the rest in float. The rewrites
here put others in the place of those it does not know; every one gives the same values up to the
rounding of float32. They are applied before quantization, to float32 tensors only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.fx import GraphModule, Node

from . import (
    attention,
    convolution,
    masks,
    matrix,
    normalization,
    pooling,
    recurrent,
    reduction,
    resize,
    unary,
    unrolled,
    volumes,
    weighted,
)
from .aliases import name_plainly
from .branches import join_branches
from .builder import Builder, Table
from .complex_numbers import write_out_complex_numbers
from .constants import fold_constants
from .decompose import decompose, decompose_coded, decompose_floats, decompose_unary
from .edge_lists import TooManyEdges
from .edges import join_edges
from .in_place import outside_place
from .normalization import fold_into_layers
from .order import take_places_from_scores
from .promotion import convert_operands
from .signs import move_signs
from .spectrum import join_spectra
from .written_norms import name_norms

__all__ = [
    "TooManyEdges",
    "REWRITES",
    "convert_operands",
    "decompose",
    "decompose_coded",
    "decompose_floats",
    "decompose_unary",
    "fold_constants",
    "fold_into_layers",
    "join_edges",
    "join_spectra",
    "name_norms",
    "name_plainly",
    "outside_place",
    "rewrite",
    "take_places_from_scores",
    "write_out_complex_numbers",
]

REWRITES: Table = {
    **attention.TABLE,
    **convolution.TABLE,
    **masks.TABLE,
    **matrix.TABLE,
    **normalization.TABLE,
    **pooling.TABLE,
    **recurrent.TABLE,
    **reduction.TABLE,
    **resize.TABLE,
    **weighted.TABLE,
}


def rewrite(module: GraphModule, precision_of: Callable[[Node], object] = lambda node: "") -> None:
    """Apply all rewrites to what `decompose` left, in place. The new nodes have no shapes: capture
    the result again.

    Args:
        precision_of: of a call; None for float.
    """
    convolution.take_batches(module)
    fold_into_layers(module)
    join_branches(module, precision_of)
    fold_into_layers(module)  # what follows a sum
    normalization.fold_bands(module)
    attention.write_out_scores(module)
    move_signs(module)
    unary.join_unary(module, precision_of)
    for node in list(module.graph.nodes):
        target: Any = node.target
        if node.op != "call_function" or target not in REWRITES:
            continue
        in_float = target in unrolled.TABLE and precision_of(node) is None
        table = unrolled.TABLE if in_float else REWRITES
        replacement = table[target](Builder(module, node))
        if replacement is None:
            continue
        if node.users:
            replacement.meta["val"] = node.meta.get("val")
            node.replace_all_uses_with(replacement)
        module.graph.erase_node(node)
    convolution.join_activations(module, precision_of)
    volumes.drop_permutations(module)
    module.graph.eliminate_dead_code()
    module.recompile()
