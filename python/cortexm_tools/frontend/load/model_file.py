# SPDX-License-Identifier: Apache-2.0
"""Load a user's model file, in the convention of ExecuTorch's aot_arm_compiler.

``ModelUnderTest`` is the module and ``ModelInputs`` the tuple of example inputs; optional are
``CalibrationInputs``, ``EvaluationInputs`` and ``Quantization``, precisions by module paths. Each may be
a value or a callable without arguments.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import os
import random
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...errors import CortexMError, printable
from ...options.precision import Pattern, parse_patterns
from ..origin.places import first_line, is_user_file, shown_path, text_of, where_of_error
from .arguments import form_of
from .depend import recording, tool_files
from .samples import (
    Evaluation,
    Sample,
    calibration_file,
    calibration_samples,
    check_values,
    evaluation_set,
    example_sample,
    is_other_float,
    type_text,
)
from .script import as_script

MODULE_NAME = "cortexm_model_file"
SEED = 0
_HINT_QUANTIZED = (
    "give the model on floats, which the build quantizes, or what prepare_pt2e and convert_pt2e of "
    "torchao make of it (docs/pipeline.md)"
)

_HINT_TRAINED = "give what its finish() returns"

_EAGER = ("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized")  # modules of packed weights
_TRAINED = "cortexm_tools.frontend.quantize.trained"  # ours (prepare_qat)
# Modules that preparing a model for quantization puts into it, and converting takes out again.
_OBSERVERS = (
    *("torch.ao.quantization.observer", "torch.ao.quantization.fake_quantize"),
    *("torchao.quantization.pt2e.", "torchao.quantization.qat."),
    _TRAINED,
)

_HINT_CONVENTION = (
    "a model file defines ModelUnderTest (an nn.Module) and ModelInputs (a tuple of tensors); "
    "see docs/pipeline.md"
)


@dataclass(frozen=True)
class LoadedModel:
    """What a model file says.

    Attributes:
        path: the model file.
        module: the model, in eval mode.
        example_inputs: one tensor per input.
        calibration: samples to take the quantization ranges from; None if there are none.
        evaluation: labelled inputs; None if there are none.
        dependencies: absolute paths of the files to rebuild for, sorted.
        patterns: precisions by module paths.
        patterns_at: where they stand, for messages.
        line: where ModelUnderTest stands, as file:line; empty if that is in no file.
    """

    path: Path
    module: torch.nn.Module
    example_inputs: Sample
    calibration: tuple[Sample, ...] | None
    evaluation: Evaluation | None
    dependencies: tuple[str, ...] = field(default=(), repr=False)
    patterns: tuple[Pattern, ...] = ()
    patterns_at: str = ""
    line: str = ""

    def where(self, error: BaseException) -> str:
        """The line of the user's code in which `error` arose, or that of the model."""
        return where_of_error(error, self.path.parent, self.line or self.path.name)


# The user's modules that the previous load imported: forgotten before the next one, so that two
# model files with helpers of the same name do not get each other's.
_imported: set[str] = set()


def load_model(
    path: str | os.PathLike[str],
    *,
    calibration: str | os.PathLike[str] | None = None,
    evaluation: bool = True,
) -> LoadedModel:
    """Execute the model file and check what it defines.

    Random generators are seeded before, so that weights a model file leaves to chance are the same
    in every build.

    Args:
        path: the model file.
        calibration: a file that replaces the model file's CalibrationInputs.
        evaluation: whether to evaluate EvaluationInputs, which may take its time.

    Raises:
        CortexMError: the file cannot be read, fails, or does not define what it must.
    """
    model_path = Path(os.path.abspath(path))
    code = _compile(model_path)
    _forget_imports()
    with recording() as recorder, seeded(), as_script(model_path):
        recorder.note(str(model_path))
        module = _execute(code, model_path)
        model = _model(module, model_path)
        form, given = form_of(_value(module, "ModelInputs", model_path))
        example = example_sample(given, _where(model_path, "ModelInputs"))
        samples = None
        if calibration is not None:
            calibration_path = Path(os.path.abspath(calibration))
            samples = calibration_file(calibration_path, example)
            inside = calibration_path.rglob("*") if calibration_path.is_dir() else []
            recorder.paths.update(map(str, [calibration_path, *inside]))
        elif hasattr(module, "CalibrationInputs"):
            where = _where(model_path, "CalibrationInputs")
            with _user_code(model_path):
                value = _value(module, "CalibrationInputs", model_path)
                samples = calibration_samples(form.samples(value), example, where)
        labelled = None
        if evaluation and hasattr(module, "EvaluationInputs"):
            where = _where(model_path, "EvaluationInputs")
            with _user_code(model_path):
                value = _value(module, "EvaluationInputs", model_path)
                labelled = evaluation_set(form.labelled(value), example, where)
        patterns: tuple[Pattern, ...] = ()
        patterns_at = ""
        if hasattr(module, "Quantization"):
            patterns_at = _where(model_path, "Quantization")
            patterns = parse_patterns(_value(module, "Quantization", model_path), patterns_at)
        _imported.update(recorder.note_modules())
        found = recorder.existing()
    # From here on it is ours: until then the file's own code may call it, or train it.
    model = form.taken_by(_evaluating(model).requires_grad_(False))
    dependencies = tuple(sorted({*found, *tool_files()}))
    line = _where(model_path, "ModelUnderTest")
    return LoadedModel(
        model_path, model, example, samples, labelled, dependencies, patterns, patterns_at, line
    )


def _forget_imports() -> None:
    for name in _imported:
        sys.modules.pop(name, None)
    _imported.clear()


def _compile(path: Path) -> types.CodeType:
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        raise CortexMError("model file not found", where=str(path)) from None
    except OSError as error:
        raise CortexMError(
            f"cannot read the model file: {error.strerror}", where=str(path)
        ) from error
    try:
        tree = ast.parse(source, filename=str(path))
        if not tree.body:
            raise CortexMError("the model file is empty", where=path.name, hint=_HINT_CONVENTION)
        return compile(tree, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"{path.name}:{error.lineno}" if error.lineno else path.name
        raise CortexMError(f"not valid Python: {error.msg}", where=where) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise CortexMError(f"not valid Python: {text_of(error)}", where=path.name) from None


def _execute(code: types.CodeType, path: Path) -> types.ModuleType:
    module = types.ModuleType(MODULE_NAME)
    module.__file__ = str(path)
    sys.modules[MODULE_NAME] = module
    with _user_code(path):
        exec(code, module.__dict__)
    return module


@contextmanager
def _user_code(path: Path) -> Iterator[None]:
    """Turn what the user's code raises into a CortexMError with the user's line."""
    try:
        yield
    except CortexMError:
        raise
    except ModuleNotFoundError as error:
        raise CortexMError(
            f"cannot import {error.name!r}",
            where=where_of_error(error, path.parent, path.name),
            hint=f"install it for {Path(sys.executable).name}, put it beside the model file, or name "
            "its folder in PYTHONPATH",
        ) from error
    except Exception as error:
        raise CortexMError(
            f"the model file failed: {first_line(error)}",
            where=where_of_error(error, path.parent, path.name),
            hint=f"'{Path(sys.executable).name} {path.name}' shows where and how",
        ) from error


@contextmanager
def seeded() -> Iterator[None]:
    """Fixed random seeds inside the block; the generators' states return afterwards."""
    python_state, numpy_state = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        random.seed(SEED)
        np.random.seed(SEED)
        torch.manual_seed(SEED)
        try:
            yield
        finally:
            random.setstate(python_state)
            np.random.set_state(numpy_state)


def _where(path: Path, name: str) -> str:
    """``file:line`` of the last statement that binds `name` in the model file, those in functions aside."""
    lines: list[int] = []
    nodes: list[ast.AST] = [ast.parse(path.read_bytes())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound = node.name
        elif isinstance(node, ast.alias):
            bound = node.asname or node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound = node.id
        else:
            nodes.extend(ast.iter_child_nodes(node))
            continue
        if bound == name:
            lines.append(node.lineno)
    return f"{path.name}:{max(lines)}" if lines else path.name


def _value(module: types.ModuleType, name: str, path: Path) -> Any:
    """The named attribute of the model file, called if it is a callable."""
    if not hasattr(module, name):
        close = difflib.get_close_matches(name, vars(module), n=1, cutoff=0.8)
        other = f", but {printable(close[0])}" if close else ""
        raise CortexMError(
            f"the model file defines no {name}{other}", where=path.name, hint=_HINT_CONVENTION
        )
    value = getattr(module, name)
    if isinstance(value, (torch.nn.Module, torch.Tensor)) or not callable(value):
        return value
    if hasattr(value, "__getitem__") and hasattr(value, "__len__"):
        return value  # a data set that happens to be callable
    try:
        inspect.signature(value).bind()
    except (TypeError, ValueError):
        raise CortexMError(
            f"{name} is a callable that needs arguments",
            where=_where(path, name),
            hint="give a value, or a callable without arguments",
        ) from None
    with _user_code(path):
        return value()


def _model(module: types.ModuleType, path: Path) -> torch.nn.Module:
    model = _value(module, "ModelUnderTest", path)
    if not isinstance(model, torch.nn.Module):
        raise CortexMError(
            f"ModelUnderTest must be an nn.Module, not {type(model).__name__}",
            where=_where(path, "ModelUnderTest"),
            hint=_HINT_CONVENTION,
        )
    check_module(model, _where(path, "ModelUnderTest"))
    return _evaluating(model)


def _evaluating(model: torch.nn.Module) -> torch.nn.Module:
    try:
        return model.eval()
    except NotImplementedError:
        return model  # exported modules refuse eval(); they are in the mode they were exported in


def check_module(model: torch.nn.Module, where: str) -> None:
    """Refuse what torch.export takes for something else than it is, or fails on without a reason.

    Args:
        where: the place of the model, for messages.

    Raises:
        CortexMError: the model is a script, or quantized in another way than PT2E, or only prepared for it;
            its parameters are of another floating-point type than float32, or have no shape or no values.
    """
    if isinstance(model, torch.jit.ScriptModule):
        raise CortexMError(
            "the model is TorchScript, which torch.export does not take",
            where=where,
            hint="give the nn.Module that was scripted or traced",
        )
    for name, part in model.named_modules():
        if type(part).__module__.startswith(_EAGER):
            raise CortexMError(
                f"{repr(name) if name else 'the model'} is a quantized module of torch.ao "
                f"({type(part).__name__})",
                where=where,
                hint=_HINT_QUANTIZED,
            )
        if any(kind.__module__.startswith(_OBSERVERS) for kind in type(part).__mro__):
            ours = type(part).__module__ == _TRAINED
            raise CortexMError(
                f"the model is prepared for quantization, but not converted ({repr(name) if name else 'it'} "
                f"is a {type(part).__name__})",
                where=where,
                hint=_HINT_TRAINED if ours else _HINT_QUANTIZED,
            )
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        what = f"{'parameter' if is_parameter else 'buffer'} {name!r}"
        if torch.nn.parameter.is_lazy(tensor):
            raise CortexMError(
                f"the model has a lazy layer that has seen no input yet ({what})",
                where=where,
                hint="call the model once where it is made, before its weights are loaded",
            )
        check_values(tensor, what, where)
        if type(tensor.data).__module__.startswith("torchao."):
            raise CortexMError(
                f"{what} is a tensor of torchao ({type(tensor.data).__name__})",
                where=where,
                hint=_HINT_QUANTIZED,
            )
        if is_parameter and is_other_float(tensor.dtype):
            raise CortexMError(
                f"the model is in {type_text(tensor.dtype)} ({what}); models are "
                "quantized from float32",
                where=where,
                hint="give the model and its inputs in float32, as .float() makes them",
            )


def user_files(loaded: LoadedModel) -> tuple[str, ...]:
    """The dependencies that are the user's own, relative to the model file where possible."""
    return tuple(
        shown_path(file, loaded.path.parent) for file in loaded.dependencies if is_user_file(file)
    )
