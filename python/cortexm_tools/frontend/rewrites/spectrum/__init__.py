# SPDX-License-Identifier: Apache-2.0
"""Find logarithms of bands of spectra, however they are written, and make one operator of each.

Every node gets, where there is one, a `Chain`: what it is in terms of a sound. Frames come from unfold,
slices, torch.stft or the stride of a convolution; transforms from torch.fft and torch.stft, or from
matrices that are those of the cosines and sines up to what float32 rounds; then powers (abs, real and
imaginary part squared and added, the product with the conjugate), sums by a constant matrix on either
side, a constant added or a lower bound, a logarithm, and what multiplies it and is added.

A dimension of one element has no name, so that views need not be followed. The last node of a
chain is replaced; what nobody else reads falls away.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import GraphModule, Node

from ....ir.log_mel import Reals
from ..builder import Builder
from . import arithmetic, shapes, transforms
from .chain import FRAME, INNER, Chain, Stage
from .finder import Finder, shape_of
from .log_mel import LOG_MEL

_aten = torch.ops.aten

assert arithmetic and shapes and transforms  # importing them registers what continues chains


def join_spectra(
    module: GraphModule, precision_of: Callable[[Node], object] = lambda node: ""
) -> None:
    """Replace logarithms of bands of spectra by one operator each, in place.

    Args:
        precision_of: of a call; those of none stay as they are.
    """
    finder = Finder(module)
    for node in list(module.graph.nodes):
        if precision_of(node) is not None:
            finder.follow(node)
    for node, chain in finder.chains.items():
        users = [user for user in node.users if user not in finder.chains]
        if chain.stage is Stage.LOGS and (users or not node.users):
            replacement = _replacement(module, node, chain)
            for user in users:
                user.replace_input_with(node, replacement)
    for node in reversed(finder.chains):  # operators in place are no dead code for PyTorch
        if not node.users:
            module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    module.recompile()


def _replacement(module: GraphModule, node: Node, chain: Chain) -> Node:
    """The operator, with its dimensions in the order that the node has."""
    build = Builder(module, node)
    window, start = chain.trimmed()

    def constant(values: Reals) -> Node:
        return build.constant(torch.tensor(values, dtype=torch.float32))

    made = build(
        LOG_MEL, chain.source, constant(window), constant(chain.bank), constant(chain.factor),
        constant(chain.offset), chain.points, start, chain.hop, chain.frames, chain.exponent == 1,
        chain.least, chain.adds is not False,
    )  # fmt: skip
    sizes = [*shape_of(chain.source)[:-1], chain.frames, len(chain.bank)]
    names = [*range(len(sizes) - 2), FRAME, INNER]
    given = [name for name, size in zip(names, sizes, strict=True) if size > 1]
    wanted = [name for name in chain.axes if name is not None]
    if given != wanted:
        made = build(_aten.reshape.default, made, [size for size in sizes if size > 1])
        made = build(_aten.permute.default, made, [given.index(name) for name in wanted])
    made = build(_aten.reshape.default, made, list(shape_of(node)))
    made.meta["val"] = node.meta["val"]
    return made
