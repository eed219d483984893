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
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ....ir.log_mel import Reals
from ..builder import Builder
from . import arithmetic, shapes, transforms
from .chain import FRAME, INNER, Chain, Stage
from .energies import Energies
from .finder import Finder, shape_of
from .log_mel import LOG_MEL

_aten = torch.ops.aten

assert arithmetic and shapes and transforms  # importing them registers what continues chains


def join_spectra(
    module: GraphModule,
    precision_of: Callable[[Node], object] = lambda node: "",
    states: tuple[torch.Tensor, ...] = (),
) -> tuple[torch.Tensor, ...]:
    """Replace logarithms of bands of spectra by one operator each, in place, and what is computed from
    energies by what is computed from their logarithms.

    Args:
        precision_of: of a call; those of none stay as they are.
        states: the first values of the last inputs, the next ones of which are the first outputs.

    Returns:
        the states as they are kept: averages of energies as logarithms.
    """
    finder = Finder(module)
    for node in list(module.graph.nodes):
        if precision_of(node) is not None:
            finder.follow(node)
    for node, chain in finder.chains.items():
        users = [user for user in node.users if user not in finder.chains]
        if chain.stage is Stage.LOGS and (users or not node.users) and not _is_shared(finder, node):
            replacement = _replacement(module, node, chain)
            for user in users:
                user.replace_input_with(node, replacement)
    states, energies = _join_energies(finder, precision_of, states)
    unused = {*finder.chains, *energies}
    for node in reversed(list(module.graph.nodes)):  # operators in place are no dead code
        if node in unused and not node.users and node.op == "call_function":
            module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    module.recompile()
    return states


def _is_shared(finder: Finder, node: Node) -> bool:
    """Whether something else is computed from the energies that a logarithm is of."""
    pending = [each for each in node.all_input_nodes if each in finder.chains]
    while pending:
        each = pending.pop()
        stage = finder.chains[each].stage
        if stage in (Stage.POWERS, Stage.SUMS) and any(u not in finder.chains for u in each.users):
            return True
        if stage in (Stage.POWERS, Stage.SUMS, Stage.LOGS):
            pending += [source for source in each.all_input_nodes if source in finder.chains]
    return False


def _join_energies(
    finder: Finder, precision_of: Callable[[Node], object], states: tuple[torch.Tensor, ...]
) -> tuple[tuple[torch.Tensor, ...], list[Node]]:
    """What `join_spectra` returns, and all nodes that may have no users any more."""
    module = finder.module
    if not any(c.stage in (Stage.POWERS, Stage.SUMS) and n.users for n, c in finder.chains.items()):
        return states, []
    nodes = [n for n in module.graph.nodes if precision_of(n) is not None]
    inputs = module.graph.find_nodes(op="placeholder")[-len(states) :] if states else []
    results: Any = module.graph.output_node().args[0]
    may = [
        (node, result)
        for node, result, first in zip(inputs, results, states, strict=False)
        if first.dtype is torch.float32 and bool((first >= 0).all())
    ]
    energies = Energies(finder, lambda node, chain: _replacement(module, node, chain, True))
    kept = energies.analyze(nodes, [node for node, _ in may], [result for _, result in may])
    energies.replace(nodes, {result: node for node, result in may if node in kept})
    logs = {inputs.index(node) for node in kept}
    return (
        tuple(
            first.clamp(min=energies.floor).log() if number in logs else first
            for number, first in enumerate(states)
        ),
        list(energies.terms),
    )


def _replacement(module: GraphModule, node: Node, chain: Chain, wide: bool = False) -> Node:
    """The operator, with its dimensions in the order that the node has."""
    build = Builder(module, node)
    window, start = chain.trimmed()

    def constant(values: Reals) -> Node:
        return build.constant(torch.tensor(values, dtype=torch.float32))

    made = build(
        LOG_MEL, chain.source, constant(window), constant(chain.bank), constant(chain.factor),
        constant(chain.offset), chain.points, start, chain.hop, chain.frames, chain.exponent == 1,
        chain.least, chain.adds is not False, chain.under, wide,
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
