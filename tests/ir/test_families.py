# SPDX-License-Identifier: Apache-2.0
"""Operators are declared once, whole, in the module of their family; each floor has the same families."""

from __future__ import annotations

import ast
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import cortexm_tools
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Array, Attrs, DType, Graph, Layout, Op, Operands, Tensor, Work, ops
from cortexm_tools.ir import attrs as declarations
from cortexm_tools.ir.attrs import Channels, Traits, operator, require_all_declared
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.exactness import is_exact
from cortexm_tools.ir.rules import CODES
from cortexm_tools.plan.lower import context

from tests.support.data_graphs import random_values
from tests.support.operator_examples import examples

ROOT = Path(__file__).parents[2]
TOOLS = Path(cortexm_tools.__file__).parent
FAMILIES = frozenset(
    {
        *(
            "conv",
            "linear",
            "recurrent",
            "pool",
            "activation",
            "norm",
            "arithmetic",
            "compare",
            "convert",
        ),
        *("move", "index", "reduce", "resample", "spectrum"),
    }
)

# The rooms that have one module, or one folder, for each family, and what may stand beside these.
FLOORS = {
    TOOLS / "ir" / "ops": frozenset(),
    TOOLS / "pte" / "ops": frozenset(),
    TOOLS / "plan" / "lower": frozenset(
        {
            "boxes",
            "broadcast",
            "constants",
            "context",
            "conv_forms",
            "copies",
            "float_conv",
        }
        | {
            "float_linear",
            "functions",
            "gates",
            "images",
            "lanes",
            "tables",
            "weights",
        }
    ),
    ROOT / "kernels" / "src": frozenset({"cmsis_nn", "common"}),
    ROOT / "kernels" / "ref": frozenset(),
}


def named(folder: Path) -> frozenset[str]:
    """The modules, files and folders of sources in a folder by their names."""
    files = (path for path in folder.iterdir() if path.suffix in (".py", ".c") or path.is_dir())
    return frozenset(path.stem for path in files if path.name[0] not in "._")


@pytest.mark.parametrize("folder", FLOORS, ids=lambda path: "-".join(path.parts[-2:]))
def test_every_floor_has_the_same_families(folder: Path) -> None:
    assert named(folder) - {"__init__"} == FAMILIES | FLOORS[folder]


def test_every_family_has_its_tests_and_its_page() -> None:
    assert {f"test_{family}" for family in FAMILIES} <= named(ROOT / "tests" / "ops")
    cases = {stem for stem in named(ROOT / "tests" / "kernels") if stem.endswith("_cases")}
    assert cases == {f"{family}_cases" for family in (*FAMILIES, "float_conv")}
    page = (ROOT / "docs" / "numerics.md").read_text().splitlines()
    assert {line[4:] for line in page if line.startswith("### ")} == FAMILIES


def test_operators_are_lowered_in_the_module_of_their_family() -> None:
    """Some families have another one for those of floats."""
    for kind, cls in ops.OPERATORS.items():
        assert cls.declared is not None
        family = cls.declared.family
        owner = f"float_{family}" if kind.startswith("float_") else family
        module = context._LOWERINGS[cls].__module__.rpartition(".")[2]
        assert module in (family, owner), kind


def test_operators_are_declared_with_all_traits() -> None:
    assert len(ops.OPERATORS) > 40
    types = {"family": str, "layout": Layout, "overwrites": Operands, "work": Work}
    types["channels"] = Channels
    for kind, cls in ops.OPERATORS.items():
        declared = cls.declared
        assert declared is not None and cls.kind == kind
        assert {field.name for field in fields(Traits)} == {*types, "exact"}
        for name, of_type in types.items():
            assert isinstance(getattr(declared, name), of_type), (kind, name)
        assert isinstance(declared.exact, bool) or callable(declared.exact), kind
        assert cls.__module__ == f"cortexm_tools.ir.ops.{declared.family}"
        assert getattr(ops, cls.__name__) is cls and cls.__name__ in ops.__all__
        assert cls.__doc__ and not cls.__doc__.startswith(f"{cls.__name__}("), kind
    assert {cls.declared.family for cls in ops.OPERATORS.values() if cls.declared} == FAMILIES


WHOLE: dict[str, Any] = {
    "layout": Layout.ANY,
    "overwrites": Operands.NONE,
    "work": Work.MOVE,
    "channels": Channels.NONE,
    "exact": True,
}


def half_declared(**changes: object) -> type[Attrs]:
    """An operator as a module of a family would declare it."""
    body = {
        "kind": "unheard",
        "check": lambda self, op: None,
        "compute": lambda self, results, x: x,
        "__module__": "cortexm_tools.ir.ops.move",
    }
    return type("Unheard", (Attrs,), {k: v for k, v in (body | changes).items() if v is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": None}, "has no kind"),
        ({"check": None}, "has no check"),
        ({"compute": None}, "has no compute"),
        ({"kind": "add"}, "two operators are called add"),
        ({"__module__": "cortexm_tools.ir.checks"}, "not in cortexm_tools.ir.ops"),
    ],
)
def test_what_is_declared_by_half_fails_at_import(
    changes: dict[str, object], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declarations, "OPERATORS", dict(ops.OPERATORS))
    declare = operator(**WHOLE)
    with pytest.raises(TypeError, match=message):
        declare(half_declared(**changes))
    assert declare(half_declared()).declared is not None
    assert declarations.OPERATORS.keys() == {*ops.OPERATORS, "unheard"}


def test_a_trait_has_no_default() -> None:
    for name in WHOLE:
        with pytest.raises(TypeError, match=name):
            operator(**{k: v for k, v in WHOLE.items() if k != name})


CHANNELWISE = [
    kind for kind in ops.OPERATORS.values() if kind.declared.channels is not Channels.NONE
]


def computed(graph: Graph, operands: list[Array]) -> Array:
    """The result of a graph of one operator."""
    (op,) = graph.ops
    return np.asarray(op.attrs.compute((graph.tensors[op.outputs[0]],), *operands))


@pytest.mark.parametrize("kind", CHANNELWISE, ids=lambda kind: kind.kind)
def test_channels_are_made_of_what_is_declared(kind: type[Attrs]) -> None:
    """On random codes: one channel, or one element, changes, and then all rise."""
    channels, random = kind.declared.channels, np.random.default_rng(11)
    graphs = [
        graph
        for graph in examples(kind)
        if all(graph.tensors[i].dtype in CODES for i in (graph.inputs[0], graph.outputs[0]))
    ]
    assert graphs
    assert (channels is Channels.WEIGHTED) == issubclass(kind, ops.ConvAttrs | ops.Linear)
    for graph in graphs:
        (op,) = graph.ops
        operands = [
            random_values(random, tensor.dtype, tensor.shape)
            if tensor.data is None
            else tensor.data
            for tensor in (graph.tensors[i] for i in op.inputs)
        ]
        before = computed(graph, operands)
        low, high = graph.tensors[op.inputs[0]].dtype.limits
        if channels is Channels.PLACED:
            sizes = [operand.size for operand in operands]
            starts = np.cumsum([1 << 40, *sizes])
            rows = [np.arange(first, first + n) for first, n in zip(starts, sizes, strict=False)]
            labels = [row.reshape(each.shape) for row, each in zip(rows, operands, strict=True)]
            assert sum(sizes) == (computed(graph, labels) >= 1 << 40).sum()
        if channels in (Channels.PLACED, Channels.IMAGES):
            risen = [
                np.maximum(each, random_values(random, graph.tensors[i].dtype, each.shape))
                for i, each in zip(op.inputs, operands, strict=True)
            ]
            assert (computed(graph, risen) >= before).all()
        for place in np.ndindex(operands[0].shape):
            if channels is Channels.IMAGES:
                where: tuple[object, ...] = (slice(None), place[1])
            elif channels in (Channels.EACH, Channels.BOTH):
                where = place if operands[0].shape == before.shape else ()
            else:
                break
            changed = operands[0].copy()
            changed[where] = np.where(changed[where] > 0, low, high)
            made = computed(graph, [changed, *operands[1:]])
            stays = np.ones(made.shape, np.bool_)
            stays[where] = False
            assert np.array_equal(made[stays], before[stays])
            if channels is Channels.EACH:  # a function of the code alone
                assert (
                    made[where]
                    == computed(graph, [np.full_like(changed, changed[where]), *operands[1:]])[
                        where
                    ]
                )


@dataclass(frozen=True)
class Unheard(Attrs):
    """An operator that is not declared."""

    kind: ClassVar[str] = "unheard"


def test_an_operator_that_is_not_declared_is_refused() -> None:
    with pytest.raises(TypeError, match="is not declared"):
        require_all_declared()
    tensors = tuple(Tensor(name, DType.S8, (2,), (0,)) for name in "xy")
    graph = Graph("g", tensors, (Op(Unheard(), (0,), (1,)),), (0,), (1,))
    with pytest.raises(CortexMError, match="unheard: is not declared"):
        check_graph(graph)
    with pytest.raises(CortexMError, match="'unheard' is not declared"):
        is_exact(Unheard())


def class_lists(path: Path) -> list[int]:
    """The lines of a module with a collection, or a union, of more than three operators."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.BinOp):
            names = {
                part.attr
                for part in ast.walk(node)
                if isinstance(part, ast.Attribute)
                and isinstance(part.value, ast.Name)
                and part.value.id == "ops"
                and part.attr in ops.__all__
                and part.attr[0].isupper()
                and not part.attr.isupper()
            }
            if len(names) > 3:
                found.append(node.lineno)
    return found


def test_no_stage_keeps_a_list_of_operators() -> None:
    """A trait that a stage asks for stands in the declaration."""
    kept = {
        str(path.relative_to(TOOLS)): lines
        for path in sorted(TOOLS.rglob("*.py"))
        if path.parent.name != "models" and (lines := class_lists(path))
    }
    assert not kept
