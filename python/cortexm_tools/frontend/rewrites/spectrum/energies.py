# SPDX-License-Identifier: Apache-2.0
"""Compute on energies of spectra by their logarithms.

Energies span 90 dB and more, which is too much for codes of a constant step; their logarithms are not.
So what a model computes from powers or bands before there is a logarithm, or without one, such as
PCEN's moving average and powers, or a cube root, is computed from logarithms with int16 codes:

* products, quotients and powers are sums, differences and multiples;
* with ``d = ln y - ln x`` the sum ``a x + b y`` is ``ln x + ln(a + b e^d)``, a function of one number;
* views, slices and stacks stay what they are;
* whoever reads anything else reads the exponential.

A state whose next value is an energy, an average for example, is kept as its logarithm, too.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch._guards import detect_fake_mode
from torch.fx import Node

from ....ir.log_mel import Reals
from ...nodes import operator_name
from ..builder import Builder
from .chain import Chain, Stage
from .finder import Finder

_aten = torch.ops.aten

Recipe = Callable[["Maker"], Node]
"""Builds the logarithm of an energy, or what is computed from it."""
Terms = dict[Node | None, Reals]
"""A sum of energies times constants; None is 1."""

_MOVES = frozenset(
    f"aten::{name}"
    for name in "transpose permute t numpy_T mT unsqueeze squeeze view reshape _unsafe_view flatten "
    "unflatten contiguous clone detach alias expand select slice narrow movedim swapaxes flip repeat "
    "lift_fresh_copy".split()
)
# Which of some numbers is the largest, their logarithms say, too.
_ORDERED = ("aten::max", "aten::min", "aten::amax", "aten::amin")
_LOGS = {"aten::log": 1.0, "aten::log2": math.log(2), "aten::log10": math.log(10)}
_EXPONENTS = {"aten::sqrt": 0.5, "aten::rsqrt": -0.5, "aten::reciprocal": -1.0, "aten::square": 2.0}
_PARTS = ("aten::unbind", "aten::split", "aten::split_with_sizes", "aten::chunk")


class Maker:
    """Builds nodes, with their shapes, before the node whose place they take."""

    def __init__(self, energies: Energies, node: Node) -> None:
        self.energies = energies
        self.build = Builder(energies.find.module, node)

    def __call__(self, target: Any, *args: Any) -> Node:
        made = self.build(target, *args)
        mode = self.energies.mode
        assert mode is not None

        def value(node: Node) -> Any:
            constant = self.build.value(node)
            return (
                node.meta["val"]
                if constant is None
                else mode.from_tensor(constant, static_shapes=True)
            )

        with mode, torch.no_grad():
            made.meta["val"] = target(*torch.fx.map_arg(args, value))
        return made

    def times(self, x: Node, factor: Reals) -> Node:
        one = factor.size == 1
        if one and float(factor.reshape(())) == 1.0:
            return x
        return self(_aten.mul.Tensor, x, self.operand(factor))

    def plus(self, x: Node, term: Reals) -> Node:
        if not term.any():
            return x
        return self(_aten.add.Tensor, x, self.operand(term))

    def operand(self, values: Reals) -> Node | float:
        if values.size == 1:
            return float(values.reshape(-1)[0])
        return self.build.constant(torch.tensor(values, dtype=torch.float32))


class Energies:
    """Which nodes are energies, and how their logarithms are computed.

    Attributes:
        terms: of energies, and of differences of energies that a later sum makes one of.
        given: what becomes an ordinary number by a recipe, such as a logarithm.
        floor: the least energy that counts.
    """

    def __init__(self, find: Finder, logarithm: Callable[[Node, Chain], Node]) -> None:
        self.find = find
        self.logarithm = logarithm
        self.terms: dict[Node, Terms] = {}
        self.recipes: dict[Node, Recipe] = {}
        self.given: dict[Node, Recipe] = {}
        self.banned: set[Node] = set()
        self.heard: set[Node] = set()
        self.floor = math.inf
        self.logs: dict[Node, Node] = {}
        graph = find.module.graph
        self.mode = detect_fake_mode([n.meta["val"] for n in graph.nodes if "val" in n.meta])

    # -- what is an energy ------------------------------------------------------------------------

    def analyze(self, nodes: list[Node], states: list[Node], results: list[Node]) -> list[Node]:
        """Finds all energies; returns which of `states` are kept as logarithms.

        Args:
            states: inputs that may be energies; `results` are their next values.
        """
        while True:
            for found in (self.terms, self.recipes, self.given, self.heard):
                found.clear()
            self.floor = math.inf
            for state in states:
                self._base(state, partial(_itself, state))
            for node in nodes:
                self._follow(node)
            bad = [
                (state, result)
                for state, result in zip(states, results, strict=True)
                if not (self.is_energy(result) and result in self.heard)
            ]
            if bad:
                states = [s for s in states if s not in [state for state, _ in bad]]
                results = [r for r in results if r not in [result for _, result in bad]]
                continue
            unread = {
                node
                for node in self.terms
                if not self.is_energy(node) and any(user not in self.terms for user in node.users)
            }
            if not unread:
                return states
            self.banned |= unread

    def is_energy(self, node: object) -> bool:
        """Whether all of a sum is positive."""
        terms = self.terms.get(node) if isinstance(node, Node) else None
        return terms is not None and bool(terms.keys() - {None}) and _positive(terms)

    def _enter(self, node: Node, terms: Terms, recipe: Recipe | None = None) -> None:
        self.terms[node] = terms
        if recipe is not None:
            self.recipes[node] = recipe

    def _base(self, node: Node, recipe: Recipe) -> None:
        self._enter(node, {node: np.ones(())}, recipe)

    def _follow(self, node: Node) -> None:
        if node.op != "call_function" or node in self.banned:
            return
        sources = node.all_input_nodes
        if node.target is operator.getitem and operator_name(sources[0]) in _PARTS:
            sources = sources[0].all_input_nodes
        before = [n for n in sources if n in self.terms]
        name = operator_name(node)
        if before:
            if name.endswith("_") and any(len(n.users) > 1 for n in before):
                return
            try:
                self._continue(node, name.removesuffix("_"))
            except (TypeError, ValueError, IndexError, KeyError):
                pass  # arguments that no rule foresees
        chain = self.find.chains.get(node)
        if node not in self.terms and chain and chain.stage in (Stage.POWERS, Stage.SUMS):
            sums = chain if chain.stage is Stage.SUMS else chain.summed()
            if not sums.least:
                sums = sums.having(least=_floor(sums), adds=False)
            self.floor = min(self.floor, sums.least)
            logs = sums.logarithm(None)
            self._base(node, lambda make: self.logarithm(node, logs))
            self.heard.add(node)
        elif node in self.terms and any(n in self.heard for n in before):
            self.heard.add(node)

    def _continue(self, node: Node, name: str) -> None:
        if node.target is operator.getitem:
            return self._part(node)
        if name in _PARTS:
            return None
        args = self._arguments(node)
        if name in ("aten::stack", "aten::cat"):
            if all(self.is_energy(each) for each in args["tensors"]):
                target: Any = node.target
                self._base(
                    node,
                    lambda make: make(
                        target, [self.log(each, make) for each in args["tensors"]], args["dim"]
                    ),
                )
            return None
        if name in ("aten::add", "aten::sub", "aten::rsub", "aten::lerp"):
            return self._sum(node, name, args)
        if name in ("aten::mul", "aten::div", "aten::true_divide"):
            return self._product(node, name, args)
        x = args.get("self")
        if name == "aten::maximum" and not self.is_energy(x):
            x, args = args["other"], {**args, "other": x}
        if not isinstance(x, Node) or not self.is_energy(x):
            return None
        if name in _ORDERED and not isinstance(node.meta["val"], torch.Tensor):
            return None
        if name in _MOVES or name in _ORDERED:
            return self._base(node, lambda make: self._moved(node, x, make))
        if name in ("aten::abs", "aten::relu"):
            return self._base(node, lambda make: self.log(x, make))
        if name in _LOGS:
            factor = np.array(1.0 / _LOGS[name])
            self.given[node] = lambda make: make.times(self.log(x, make), factor)
        elif name == "aten::log1p":
            self.given[node] = lambda make: make(_aten.softplus.default, self.log(x, make))
        elif name in _EXPONENTS or name == "aten::pow":
            exponent = self._constant(_EXPONENTS.get(name, args.get("exponent")))
            if exponent is not None:
                self._base(node, lambda make: make.times(self.log(x, make), exponent))
        elif name in ("aten::clamp", "aten::clamp_min", "aten::maximum"):
            low = self.find.number(args["other"] if name == "aten::maximum" else args["min"])
            high = args.get("max")
            if low is not None and low > 0 and high is None:
                least = math.log(low)
                self._base(node, lambda make: make(_aten.clamp.default, self.log(x, make), least))
        return None

    def _arguments(self, node: Node) -> dict[str, Any]:
        return Builder(self.find.module, node).arguments()

    def _moved(self, node: Node, x: Node, make: Maker) -> Node:
        target: Any = node.target
        log = self.log(x, make)
        return make(target, *(log if each is x else each for each in node.args))

    def _part(self, node: Node) -> None:
        """A piece of an energy taken apart."""
        pieces, number = node.args
        assert isinstance(pieces, Node) and isinstance(number, int)
        x = pieces.args[0]
        if operator_name(pieces) not in _PARTS or not isinstance(x, Node) or not self.is_energy(x):
            return
        dim = int(self._arguments(pieces)["dim"])
        if operator_name(pieces) == "aten::unbind":
            self._base(node, lambda make: make(_aten.select.int, self.log(x, make), dim, number))
            return
        sizes = [int(each.shape[dim]) for each in pieces.meta["val"]]
        begin = sum(sizes[:number])
        self._base(
            node,
            lambda make: make(
                _aten.slice.Tensor, self.log(x, make), dim, begin, begin + sizes[number]
            ),
        )

    def _constant(self, value: object) -> Reals | None:
        """A number, or the numbers of a constant."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return np.array(float(value))
        return self.find.value(value)

    def _linear(self, value: object) -> Terms | None:
        """An operand of a sum."""
        if isinstance(value, Node) and value in self.terms:
            terms = self.terms[value]
            if len(terms) > 1 and self.is_energy(value):
                return {value: np.ones(())}
            return terms
        constant = self._constant(value)
        return None if constant is None else {None: constant}

    def _sum(self, node: Node, name: str, args: dict[str, Any]) -> None:
        if name == "aten::lerp":
            weight = self._constant(args["weight"])
            if weight is None:
                return
            pairs = [(args["self"], 1.0 - weight), (args["end"], weight)]
        else:
            alpha = np.array(float(args["alpha"]))
            one, other = {
                "aten::add": (np.ones(()), alpha),
                "aten::sub": (np.ones(()), -alpha),
                "aten::rsub": (-alpha, np.ones(())),
            }[name]
            pairs = [(args["self"], one), (args["other"], other)]
        total: Terms = {}
        for operand, factor in pairs:
            terms = self._linear(operand)
            if terms is None:
                return
            for base, coefficient in terms.items():
                total[base] = total.get(base, np.zeros(())) + factor * coefficient
        self._add(node, total)

    def _add(self, node: Node, terms: Terms) -> None:
        terms = {base: c for base, c in terms.items() if c.any()}
        if terms.keys() - {None}:
            self._enter(node, terms)

    def _product(self, node: Node, name: str, args: dict[str, Any]) -> None:
        if args.get("rounding_mode") is not None:
            return
        a, b = args["self"], args["other"]
        divides = name != "aten::mul"
        sign = np.array(-1.0 if divides else 1.0)
        constants = self._constant(a), self._constant(b)
        if constants[1] is not None:
            terms = self._linear(a)
            factor = 1.0 / constants[1] if divides else constants[1]
            if terms is not None and np.isfinite(factor).all():
                self._add(node, {base: c * factor for base, c in terms.items()})
            return
        if constants[0] is not None:
            terms = self._linear(b)
            if terms is None:
                return
            if not divides:
                self._add(node, {base: c * constants[0] for base, c in terms.items()})
            elif self.is_energy(b) and (constants[0] > 0).all():
                term = np.log(constants[0])
                self._base(node, lambda make: make.plus(make.times(self.log(b, make), sign), term))
            return
        if not divides and not self.is_energy(a):
            a, b = b, a
        if not self.is_energy(a):
            return
        if self.is_energy(b):
            other: Recipe = lambda make: self.log(b, make)  # noqa: E731
        elif operator_name(b) == "aten::exp":
            other = lambda make: b.args[0]  # noqa: E731
        else:
            return
        target = _aten.sub.Tensor if divides else _aten.add.Tensor
        self._base(node, lambda make: make(target, self.log(a, make), other(make)))

    # -- their logarithms -------------------------------------------------------------------------

    def log(self, node: Node, make: Maker) -> Node:
        """The logarithm of an energy."""
        if node not in self.logs:
            # Before the energy itself, so that all that read it come behind.
            here = make if node.op == "placeholder" else Maker(self, node)
            recipe = self.recipes.get(node)
            self.logs[node] = recipe(here) if recipe else self._log_of_sum(node, here)
        return self.logs[node]

    def _log_of_sum(self, node: Node, make: Maker) -> Node:
        terms = dict(self.terms[node])
        constant = terms.pop(None, None)
        order = sorted(terms.items(), key=lambda item: -float(item[1].mean()))
        (first, factor), *rest = order
        assert first is not None
        result, factor = self.log(first, make), np.log(factor)
        for base, coefficient in rest:
            assert base is not None
            # ln(e^f x + c y), where d = ln y - ln x, is ln x + f + ln(1 + e^(d + ln c - f))
            apart = make(_aten.sub.Tensor, self.log(base, make), result)
            apart = make.plus(apart, np.log(coefficient) - factor)
            more = make.plus(make(_aten.softplus.default, apart), factor)
            result, factor = make(_aten.add.Tensor, result, more), np.zeros(())
        if constant is None:
            return make.plus(result, factor)
        least = np.log(constant)
        return make.plus(make(_aten.softplus.default, make.plus(result, factor - least)), least)

    # -- what takes their place -------------------------------------------------------------------

    def replace(self, nodes: list[Node], kept: dict[Node, Node]) -> None:
        """Give all that reads energies the exponentials of their logarithms, and states these.

        Args:
            kept: the states that are kept as logarithms, by their next values.
        """
        output = self.find.module.graph.output_node()
        for node in nodes:
            users = [
                user for user in node.users if user not in self.terms and user not in self.given
            ]
            users = [user for user in users if operator_name(user) not in _PARTS]
            if node in self.given and node.users:
                made = self.given[node](Maker(self, node))
                node.replace_all_uses_with(made)
            elif self.is_energy(node) and users:
                made = None
                for user in users:
                    if user is output and node in kept:
                        continue
                    made = made or self._exponential(node)
                    user.replace_input_with(node, made)
        outputs: Any = output.args[0]
        output.args = (
            tuple(self.log(each, Maker(self, each)) if each in kept else each for each in outputs),
        )

    def _exponential(self, node: Node) -> Node:
        first = node
        while first.op == "placeholder":
            first = first.next
        make = Maker(self, first)
        return make(_aten.exp.default, self.log(node, make))


def _itself(state: Node, make: Maker) -> Node:
    return state


def _positive(terms: Terms) -> bool:
    return all(bool((coefficient > 0).all()) for coefficient in terms.values())


def _floor(chain: Chain) -> float:
    """10 dB below what rounding samples in [-1, 1] to 16 bits leaves in the widest band."""
    noise = float((chain.window**2).sum()) * 2.0**-30 / 12
    widest = float(chain.bank.sum(axis=1).max()) or 1.0
    return 0.1 * widest * (noise if chain.exponent == 2 else math.sqrt(noise)) or 1e-12
