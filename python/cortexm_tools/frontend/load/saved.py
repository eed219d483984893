# SPDX-License-Identifier: Apache-2.0
"""What torch.save and torch.export.save wrote: whole modules, which run code, exported programs as models,
and example inputs (`--model_input`), which do not."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ...errors import CortexMError, printable
from ..origin.places import first_line
from ..quiet import import_executorch, quiet
from .depend import tool_files
from .model_file import LoadedModel, check_module
from .samples import Sample, calibration_file, example_sample, shape_text


def load_saved(path: Path, model_input: Path | None, calibration: Path | None) -> LoadedModel:
    """A module saved whole with ``torch.save(model, path)``. Loading one executes its code.

    Raises:
        CortexMError: it cannot be loaded, is not a module, or comes without example inputs.
    """
    if model_input is None:
        raise CortexMError(
            "a saved module comes without example inputs",
            where=str(path),
            hint="give them with --model_input FILE.pt",
        )
    module = _loaded(path, lambda: torch.load(path, map_location="cpu", weights_only=False))
    if not isinstance(module, torch.nn.Module):
        raise CortexMError(
            f"holds a {type(module).__name__}, not an nn.Module",
            where=str(path),
            hint="write a model.py that builds the module and loads these weights",
        )
    return _model(path, module.eval(), saved_inputs(model_input), [model_input], calibration)


def load_exported(path: Path, model_input: Path | None, calibration: Path | None) -> LoadedModel:
    """A program saved with ``torch.export.save(program, path)``, with the inputs that it was exported with.
    Nothing in the file runs.

    Raises:
        CortexMError: it cannot be loaded, could run code, or its inputs are not known or no tensors in order.
    """
    import_executorch()  # a quantized program has operators of its own
    from .archive import load_archive

    def load() -> tuple[torch.nn.Module, Any, list[str]]:
        program = load_archive(path.read_bytes(), str(path))
        inputs, named = program.example_inputs or (None, {})
        return program.module(check_guards=False), inputs, list(map(str, named))

    with quiet():
        module, inputs, named = _loaded(path, load)
    if model_input is not None:
        example = saved_inputs(model_input)
    elif inputs is None:
        raise CortexMError(
            "an exported program without its example inputs",
            where=str(path),
            hint="give them with --model_input FILE.pt",
        )
    elif named:
        raise CortexMError(
            f"takes its inputs by name: {printable(', '.join(named))}",
            where=str(path),
            hint="export the module with all inputs in order: torch.export.export(module, (x, …))",
        )
    else:
        example = example_sample(inputs, path.name)
    return _model(path, module, example, [model_input] if model_input else [], calibration)


def _model(
    path: Path,
    module: torch.nn.Module,
    example: Sample,
    files: list[Path],
    calibration: Path | None,
) -> LoadedModel:
    """A module that came from `path`, and its inputs from the other files."""
    check_module(module, str(path))
    module.requires_grad_(False)
    samples = calibration_file(calibration, example) if calibration is not None else None
    files = [path, *files, *([calibration] if calibration is not None else [])]
    dependencies = sorted({*(os.path.abspath(file) for file in files), *tool_files()})
    return LoadedModel(
        Path(os.path.abspath(path)), module, example, samples, None, tuple(dependencies)
    )


def saved_inputs(path: Path) -> Sample:
    """Example inputs from a .pt file: a tensor, or a tuple or list of them.

    Raises:
        CortexMError: not such a file.
    """
    value = _loaded(path, lambda: torch.load(path, map_location="cpu", weights_only=True))
    return example_sample(value, path.name)


def with_inputs(loaded: LoadedModel, path: Path) -> LoadedModel:
    """`loaded` with the example inputs of a .pt file.

    Raises:
        CortexMError: they do not have the shapes and types of the model's own.
    """
    given = saved_inputs(path)
    own = [(tuple(x.shape), x.dtype) for x in loaded.example_inputs]
    if [(tuple(x.shape), x.dtype) for x in given] != own:
        raise CortexMError(
            f"holds inputs {', '.join(shape_text(x.shape) for x in given)}, the model takes "
            f"{', '.join(shape_text(x.shape) for x in loaded.example_inputs)}",
            where=path.name,
        )
    dependencies = tuple(sorted({*loaded.dependencies, os.path.abspath(path)}))
    return dataclasses.replace(loaded, example_inputs=given, dependencies=dependencies)


def _loaded(path: Path, load: Callable[[], Any]) -> Any:
    if not path.is_file():
        raise CortexMError("no such file", where=str(path))
    try:
        return load()
    except CortexMError:
        raise
    except Exception as error:  # pickle, zip and import errors of many kinds
        raise CortexMError(f"cannot load: {first_line(error)}", where=path.name) from error
