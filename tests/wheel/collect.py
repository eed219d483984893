# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own test cases of the Cortex-M backend, as they come in the executorch wheel.

Nothing is copied: the wheel's test modules are imported, and what their tests are parametrized with
is taken where it has the form of a case, an object with a model (or module) and example inputs.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import random
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.load.samples import Sample
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.frontend.quiet import import_executorch, quiet
from cortexm_tools.program import Program
from cortexm_tools.target import Target

PACKAGES = ("ops", "misc", "models")
_ROOT = "executorch.backends.cortex_m.test"
_SEED = 0  # what the wheel's conftest seeds with before each module and each test

# Whole networks of the wheel. They are cases like the others, but take seconds to minutes.
LARGE = re.compile(r"^(mobilenet|silero|wav2letter|yolo|resnet8|ds_cnn|deep_autoencoder)")


@dataclass(frozen=True)
class WheelCase:
    """One case.

    Attributes:
        name: ``<module without test_>-<case>``, for example ``conv-conv2d``.
        module: the model.
        example_inputs: one tensor per input.
        calibration: samples for the quantization ranges; None if the example inputs serve.
    """

    name: str
    module: torch.nn.Module = field(repr=False)
    example_inputs: Sample = field(repr=False)
    calibration: tuple[Sample, ...] | None = field(default=None, repr=False)

    @property
    def large(self) -> bool:
        """Whether it is a whole network."""
        return LARGE.match(self.name) is not None


@dataclass(frozen=True)
class LeftOut:
    """A module or case of the wheel that is no WheelCase, and why."""

    name: str
    reason: str


class _Bound(torch.nn.Module):
    """`module` with those of its arguments fixed that are not tensors."""

    def __init__(self, module: torch.nn.Module, arguments: tuple[Any, ...]) -> None:
        super().__init__()
        self.module = module
        self.fixed = tuple(None if isinstance(a, torch.Tensor) else (a,) for a in arguments)

    def forward(self, *tensors: torch.Tensor) -> Any:
        rest = iter(tensors)
        return self.module(*(next(rest) if a is None else a[0] for a in self.fixed))


def _seed() -> None:
    random.seed(_SEED)
    torch.manual_seed(_SEED)


def _test_modules() -> Iterator[str]:
    root = importlib.import_module(_ROOT)
    for package in PACKAGES:
        folder = [str(Path(path) / package) for path in root.__path__]
        names = sorted(info.name for info in pkgutil.iter_modules(folder))
        yield from (f"{package}.{name}" for name in names if name.startswith("test_"))


def _parameters(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """(identifier, value) of everything that the module's tests are parametrized with."""
    functions = [f for f in vars(module).values() if isinstance(f, types.FunctionType)]
    for function in functions:
        for mark in getattr(function, "pytestmark", ()):
            if mark.name != "parametrize":
                continue
            for number, value in enumerate(mark.args[1]):
                name = getattr(value, "id", None) or str(number)
                values = getattr(value, "values", (value,))
                if not isinstance(values, (tuple, list)):
                    values = (value,)
                for each in values:
                    yield str(name), each
    for table in vars(module).values():
        if isinstance(table, dict):
            yield from ((str(name), value) for name, value in table.items())


def _as_case(value: Any) -> tuple[torch.nn.Module, Any] | None:
    """(model, inputs or a callable that makes them), if `value` is a case."""
    value = getattr(value, "case", value)
    model = getattr(value, "model", None)
    if model is None:
        model = getattr(value, "module", None)
    if not isinstance(model, torch.nn.Module) or not hasattr(value, "example_inputs"):
        return None
    return model, value.example_inputs


def _make_case(name: str, model: torch.nn.Module, inputs: Any) -> WheelCase:
    _seed()
    arguments = tuple(inputs() if callable(inputs) else inputs)
    if not all(isinstance(a, torch.Tensor) for a in arguments):
        model = _Bound(model, arguments)
    model = model.eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return WheelCase(name, model, tuple(a for a in arguments if isinstance(a, torch.Tensor)))


@functools.cache
def collect() -> tuple[tuple[WheelCase, ...], tuple[LeftOut, ...]]:
    """All cases in the order of their modules, and what is none."""
    import_executorch()
    cases: dict[str, WheelCase] = {}
    left_out = []
    for path in _test_modules():
        short = path.rpartition(".test_")[2]
        _seed()
        try:
            with quiet(), torch.random.fork_rng(devices=[]):
                module = importlib.import_module(f"{_ROOT}.{path}")
        except BaseException as error:  # pytest's skip at module level is no Exception
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            left_out.append(LeftOut(short, str(error).splitlines()[0] or type(error).__name__))
            continue
        seen: set[int] = set()
        for name, value in _parameters(module):
            found = _as_case(value)
            if found is None or id(value) in seen:
                continue
            seen.add(id(value))
            full = f"{short}-{name}"
            while full in cases:
                full += "-2"
            cases[full] = _make_case(full, *found)
        if not seen:
            left_out.append(LeftOut(short, "its tests are not parametrized with models"))
    return tuple(cases.values()), tuple(left_out)


def wheel_cases(*, large: bool = False) -> list[WheelCase]:
    """The cases; with whole networks if `large`."""
    return [case for case in collect()[0] if large or not case.large]


def loaded(case: WheelCase) -> LoadedModel:
    """The case as if it had been read from a model file."""
    path = Path.cwd() / f"{case.name}.py"
    return LoadedModel(path, case.module, case.example_inputs, case.calibration, None)


def lower_whole(case: WheelCase, target: Target) -> Lowered:
    """The case lowered by this project's frontend.

    Raises:
        CortexMError: it cannot be lowered.
    """
    _seed()
    return lower(loaded(case), target=target, name=identifier(case))


def identifier(case: WheelCase) -> str:
    """The case's name as a C identifier."""
    return re.sub(r"\W", "_", case.name)


def lower_case(case: WheelCase, target: Target) -> Program:
    """The case as a program to compile, with its Python reference.

    Raises:
        CortexMError: it cannot be lowered.
    """
    result = lower_whole(case, target)
    return Program(
        name=identifier(case),
        pte=result.pte,
        layers=result.layers,
        reference=result.reference,
        float_module=result.float_module,
        example=tuple(x.detach().contiguous().numpy() for x in case.example_inputs),
    )


def stages(case: WheelCase, target: Target) -> tuple[str, str]:
    """How far the case gets and what stops it: ("lower" | "read" | "plan" | "done", message)."""
    from cortexm_tools.plan import make_plan
    from cortexm_tools.simplify import simplify

    stage = "lower"
    try:
        program = lower_case(case, target)
        stage = "read"
        graph = program.graph()
        stage = "plan"
        make_plan(simplify(graph), target)
    except CortexMError as error:
        return stage, error.message
    return "done", ""
