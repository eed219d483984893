# SPDX-License-Identifier: Apache-2.0
"""What torch.save wrote: whole modules as models, and example inputs (`--model_input`)."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import torch

from ...errors import CortexMError
from ..origin.places import first_line
from .depend import tool_files
from .model_file import LoadedModel
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
    module = _torch_load(path, weights_only=False)
    if not isinstance(module, torch.nn.Module):
        raise CortexMError(
            f"holds a {type(module).__name__}, not an nn.Module",
            where=str(path),
            hint="write a model.py that builds the module and loads these weights",
        )
    module = module.eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    example = saved_inputs(model_input)
    samples = calibration_file(calibration, example) if calibration is not None else None
    files = [path, model_input] + ([calibration] if calibration is not None else [])
    dependencies = sorted({*(os.path.abspath(file) for file in files), *tool_files()})
    return LoadedModel(
        Path(os.path.abspath(path)), module, example, samples, None, tuple(dependencies)
    )


def saved_inputs(path: Path) -> Sample:
    """Example inputs from a .pt file: a tensor, or a tuple or list of them.

    Raises:
        CortexMError: not such a file.
    """
    return example_sample(_torch_load(path, weights_only=True), path.name)


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


def _torch_load(path: Path, *, weights_only: bool) -> Any:
    if not path.is_file():
        raise CortexMError("no such file", where=str(path))
    try:
        return torch.load(path, map_location="cpu", weights_only=weights_only)
    except Exception as error:  # pickle, zip and import errors of many kinds
        raise CortexMError(f"cannot load: {first_line(error)}", where=path.name) from error
